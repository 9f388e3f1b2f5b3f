import {
  drawPicture,
  PICTURE_TYPES,
  type PictureExtension,
  type PictureKind,
} from '#src/sample-application/pictures.ts';

export type Media = { contentType: string; content: string | Buffer };

/** One grey frame of 8 x 8 pixels as WebM (VP8): a minimal video that players accept. */
const VIDEO = Buffer.from(
  'GkXfo0AgQoaBAUL3gQFC8oEEQvOBCEKCQAR3ZWJtQoeBAkKFgQIYU4BnQI0VSalmQCgq17FAAw9CQE2AQAZ3aGFtbXlXQUAGd2hhbW15' +
    'RIlACECPQAAAAAAAFlSua0AxrkAu14EBY8WBAZyBACK1nEADdW5khkAFVl9WUDglhohAA1ZQOIOBAeBABrCBCLqBCB9DtnVAIueBAKNA' +
    'HIEAAIAwAQCdASoIAAgAAUAmJaQAA3AA/vz0AAA=',
  'base64',
);

/** The path of a game's n-th picture; icons come first. Pictures are PNG, JPEG and WebP in turn. */
export const picturePath = (gameId: string, kind: PictureKind, index: number): string => {
  const extension = kind === 'icon' ? 'png' : (['jpg', 'webp', 'png'] as const)[index % 3];
  return `/media/${encodeURIComponent(gameId)}/${kind}-${index}.${extension}`;
};

/** The path of a game's video. */
export const videoPath = (gameId: string): string => `/media/${encodeURIComponent(gameId)}/trailer.webm`;

const FILE = /^\/media\/([^/]+)\/((icon|shot)-\d{1,3}\.(png|jpg|webp)|trailer\.webm)$/;

/**
 * The file at a path of `picturePath` or `videoPath`.
 *
 * @param nameOf returns the name of a game, null if it does not exist
 * @returns null if there is no file
 */
export const mediaAt = async (
  path: string,
  nameOf: (gameId: string) => string | null,
): Promise<Media | null> => {
  const [, encodedId = '', file = '', kind, extension] = FILE.exec(path) ?? [];
  if (file === '') return null;
  let gameId: string;
  try {
    gameId = decodeURIComponent(encodedId);
  } catch {
    return null;
  }
  if (nameOf(gameId) === null) return null;
  if (file === 'trailer.webm') return { contentType: 'video/webm', content: VIDEO };
  const type = extension as PictureExtension;
  const content = await drawPicture(path, kind as PictureKind, type);
  return { contentType: PICTURE_TYPES[type], content };
};
