import { choicesFrom } from '#src/sample-application/random.ts';

export type Media = { contentType: string; content: string | Buffer };

/** One grey frame of 8 x 8 pixels as WebM (VP8): a minimal video that players accept. */
const VIDEO = Buffer.from(
  'GkXfo0AgQoaBAUL3gQFC8oEEQvOBCEKCQAR3ZWJtQoeBAkKFgQIYU4BnQI0VSalmQCgq17FAAw9CQE2AQAZ3aGFtbXlXQUAGd2hhbW15' +
    'RIlACECPQAAAAAAAFlSua0AxrkAu14EBY8WBAZyBACK1nEADdW5khkAFVl9WUDglhohAA1ZQOIOBAeBABrCBCLqBCB9DtnVAIueBAKNA' +
    'HIEAAIAwAQCdASoIAAgAAUAmJaQAA3AA/vz0AAA=',
  'base64',
);

/** The path of a game's n-th picture; icons come first. */
export const picturePath = (gameId: string, index: number): string =>
  `/media/${encodeURIComponent(gameId)}/${index}.svg`;

/** The path of a game's video. */
export const videoPath = (gameId: string): string => `/media/${encodeURIComponent(gameId)}/trailer.webm`;

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.codePointAt(0)};`);

/** An SVG picture: two hues and three circles that depend on `key`, and the first character of the name. */
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
 * The file at a path of `picturePath` or `videoPath`.
 *
 * @param nameOf returns the name of a game, null if it does not exist
 * @returns null if there is no file
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
