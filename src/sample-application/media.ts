import { choicesFrom } from '#src/sample-application/random.ts';

/** A file as it is served. */
export type Media = { contentType: string; content: string | Buffer };

/** One grey picture of eight by eight pixels as WebM (VP8): the smallest video that players play. */
const VIDEO = Buffer.from(
  'GkXfo0AgQoaBAUL3gQFC8oEEQvOBCEKCQAR3ZWJtQoeBAkKFgQIYU4BnQI0VSalmQCgq17FAAw9CQE2AQAZ3aGFtbXlXQUAGd2hhbW15' +
    'RIlACECPQAAAAAAAFlSua0AxrkAu14EBY8WBAZyBACK1nEADdW5khkAFVl9WUDglhohAA1ZQOIOBAeBABrCBCLqBCB9DtnVAIueBAKNA' +
    'HIEAAIAwAQCdASoIAAgAAUAmJaQAA3AA/vz0AAA=',
  'base64',
);

/** Where the n-th picture of a game is served; its icons come first. */
export const picturePath = (gameId: string, index: number): string =>
  `/media/${encodeURIComponent(gameId)}/${index}.svg`;

/** Where the video of a game is served. */
export const videoPath = (gameId: string): string => `/media/${encodeURIComponent(gameId)}/trailer.webm`;

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.codePointAt(0)};`);

/** A picture drawn for its key: two hues, three circles and the first character of the game's name. */
const picture = (key: string, name: string): string => {
  const choices = choicesFrom(key);
  const hue = choices.below(360);
  const circles = Array.from(
    { length: 3 },
    () => `<circle cx="${choices.below(512)}" cy="${choices.below(512)}" r="${40 + choices.below(160)}"/>`,
  ).join('');
  const [initial = '?'] = name;
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512" width="512" height="512">' +
    `<rect width="512" height="512" fill="hsl(${hue} 60% 35%)"/>` +
    `<g fill="hsl(${(hue + 60) % 360} 70% 60%)" fill-opacity="0.6">${circles}</g>` +
    '<text x="256" y="340" font-family="sans-serif" font-size="240" text-anchor="middle" fill="#fff">' +
    `${escapeXml(initial)}</text></svg>`
  );
};

/**
 * The file at a path that `picturePath` or `videoPath` made.
 *
 * @param nameOf the name of a game, null for games that are unknown
 * @returns null where nothing is served
 */
export const mediaAt = (path: string, nameOf: (gameId: string) => string | null): Media | null => {
  const [, encodedId = '', file = ''] = /^\/media\/([^/]+)\/(\d{1,3}\.svg|trailer\.webm)$/.exec(path) ?? [];
  if (file === '') return null;
  let gameId: string;
  try {
    gameId = decodeURIComponent(encodedId);
  } catch {
    return null;
  }
  const name = nameOf(gameId);
  if (name === null) return null;
  return file === 'trailer.webm'
    ? { contentType: 'video/webm', content: VIDEO }
    : { contentType: 'image/svg+xml', content: picture(path, name) };
};
