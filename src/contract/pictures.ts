/** The words of pictures: the results of requests, and the sizes of thumbnails. */

/** Widths of thumbnails, in pixels. A smaller picture is not enlarged. */
export const THUMBNAIL_WIDTHS = [64, 256, 512, 1024] as const;
export type ThumbnailWidth = (typeof THUMBNAIL_WIDTHS)[number];

/**
 * The parts of the store of pictures. `seen`: bytes that a reviewer may have seen. It is not public, because an
 * application could publish pictures by listing them. `passed`: bytes of passed games, which group A names.
 */
export const STORE_AREAS = ['seen', 'passed'] as const;
export type StoreArea = (typeof STORE_AREAS)[number];

/** Outcomes of decoding bytes, in words. Only `shown` has thumbnails. */
const CONTENT = {
  shown: 'shown',
  svg: 'SVG is not shown',
  not_an_image: 'not a PNG, JPEG, WebP, AVIF or GIF',
  broken: 'broken or cut off',
  too_many_pixels: 'too many pixels',
  /** A reviewer would see another picture than players. */
  ambiguous: 'programs show it differently',
  /** The decoder crashed, or took too long. */
  undecodable: 'cannot be decoded',
};
export type ContentOutcome = keyof typeof CONTENT;
export const CONTENT_OUTCOMES = Object.keys(CONTENT) as [ContentOutcome, ...ContentOutcome[]];

/** Outcomes of requests that brought no bytes, in words. */
const FAILURES = {
  not_found: 'not found (404)',
  http_error: 'HTTP error',
  redirect: 'a redirect',
  too_large: 'too large',
  encoded: 'compressed transfer',
  busy: 'the server is busy',
  timeout: 'no answer in time',
  forbidden_address: 'address not allowed',
  name_not_found: 'unknown host',
  tls_failed: 'TLS failed',
  connect_failed: 'no connection',
  connection_lost: 'connection lost',
  /** Earlier requests of the application's pictures to this host failed shortly before. */
  not_requested: 'not requested: its server failed just before',
};
export type FetchFailure = keyof typeof FAILURES;

/** The result of the last request for a picture. */
const REASONS = { ...CONTENT, ...FAILURES };
export type PictureOutcome = keyof typeof REASONS;
export const PICTURE_OUTCOMES = Object.keys(REASONS) as [PictureOutcome, ...PictureOutcome[]];

/** Failures that may pass, so that the next request may succeed. */
const PASSING: ReadonlySet<PictureOutcome> = new Set([
  'http_error',
  'busy',
  'timeout',
  'name_not_found',
  'tls_failed',
  'connect_failed',
  'connection_lost',
  'not_requested',
  'undecodable',
]);
export const isPassing = (outcome: PictureOutcome): boolean => PASSING.has(outcome);

/** Explains in a few words why a picture is not shown: `broken or cut off`, `too large`, `a redirect (302)`. */
export const describePicture = (outcome: PictureOutcome, http_status: number | null): string => {
  if (http_status === null || outcome === 'not_found') return REASONS[outcome];
  if (outcome === 'http_error') return `${REASONS[outcome]} ${http_status}`;
  return outcome === 'redirect' || outcome === 'busy'
    ? `${REASONS[outcome]} (${http_status})`
    : REASONS[outcome];
};

/** The last part of an address: what tells one picture from another. */
export const endOf = (url: string): string => url.split(/[?#]/)[0]?.split('/').at(-1) || url;
