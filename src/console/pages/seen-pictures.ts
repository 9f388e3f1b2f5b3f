/** The bytes of pictures that are on a page, as its forms send them with a decision. */
import type { PictureView } from '#db/queries/pictures.ts';
import { html, type SafeHtml } from '#src/site/html.ts';
import { texts } from '#src/site/query.ts';

const SEEN = /([0-9a-f-]{36}):([0-9a-f]{64})/g;
/** Bytes of one picture: id, hash, an encoded colon, a space. */
export const SEEN_PICTURE_MAX_BYTES = 36 + 64 + 3 + 1;

/** Each picture that has bytes, once. The hash of one that is too large is a single byte (`refresh.ts`), and is padded. */
export const formatSeenPictures = (shown: readonly (PictureView | undefined)[]): string =>
  [...new Set(shown)]
    .flatMap((picture) => {
      const { picture_id, sha256 } = picture ?? {};
      return sha256 == null ? [] : [`${picture_id}:${sha256.padEnd(64, '0')}`];
    })
    .join(' ');

/** @returns the hash in hex that was seen, by picture */
export const parseSeenPictures = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(SEEN)].map(([, id = '', sha256 = '']) => [id, sha256]));

/** The field of a form of one game. Each list of pictures on the page sends one. */
export const seenPicturesField = texts.transform((lists) => parseSeenPictures(lists.join(' ')));

/** The field of a form of many games that names the pictures of one game. */
export const seenField = (game_id: string, shown: readonly (PictureView | undefined)[]): SafeHtml =>
  html`<input type="hidden" name="seen" value="${game_id} ${formatSeenPictures(shown)}">`;
