/** The words of pictures: the results of requests, and the sizes of thumbnails. */

/** Widths of thumbnails, in pixels. A smaller picture is not enlarged. */
export const THUMBNAIL_WIDTHS = [64, 256, 1024] as const;
export type ThumbnailWidth = (typeof THUMBNAIL_WIDTHS)[number];

/** What bytes turned out to be. Only `shown` has thumbnails. */
export const CONTENT_OUTCOMES = [
  'shown',
  'svg',
  'not_an_image',
  'broken',
  'too_many_pixels',
  /** The decoder crashed, or took too long. */
  'undecodable',
] as const;
export type ContentOutcome = (typeof CONTENT_OUTCOMES)[number];

/** Why a request brought no bytes. */
export const FETCH_FAILURES = [
  'not_found',
  'http_error',
  'redirect',
  'too_large',
  'encoded',
  'busy',
  'timeout',
  'forbidden_address',
  'name_not_found',
  'tls_failed',
  'connect_failed',
  'connection_lost',
] as const;
export type FetchFailure = (typeof FETCH_FAILURES)[number];

/** The result of the last request for a picture. */
export const PICTURE_OUTCOMES = [...CONTENT_OUTCOMES, ...FETCH_FAILURES] as const;
export type PictureOutcome = (typeof PICTURE_OUTCOMES)[number];

/** Failures that the next request may not have. */
const PASSING: ReadonlySet<PictureOutcome> = new Set([
  'http_error',
  'busy',
  'timeout',
  'name_not_found',
  'tls_failed',
  'connect_failed',
  'connection_lost',
  'undecodable',
]);
export const isPassing = (outcome: PictureOutcome): boolean => PASSING.has(outcome);

const REASONS: Record<PictureOutcome, string> = {
  shown: 'shown',
  svg: 'SVG is not shown',
  not_an_image: 'not an image',
  broken: 'broken or cut off',
  too_many_pixels: 'too many pixels',
  undecodable: 'cannot be decoded',
  not_found: '404',
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
};

/** Why a picture is not shown, in a few words: `404`, `not an image`, `too large`, `a redirect (302)`. */
export const describePicture = (outcome: PictureOutcome, http_status: number | null): string => {
  if (http_status === null || outcome === 'not_found') return REASONS[outcome];
  if (outcome === 'http_error') return `${REASONS[outcome]} ${http_status}`;
  return outcome === 'redirect' || outcome === 'busy'
    ? `${REASONS[outcome]} (${http_status})`
    : REASONS[outcome];
};
