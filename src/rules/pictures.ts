import { createHash } from 'node:crypto';
import { describePicture, isPassing, type PictureOutcome } from '#src/contract/pictures.ts';
import { MINUTE_MS } from '#src/lib/duration.ts';
import { addressEnd, addressIdentity, type IdentityRule } from '#src/rules/address-identity.ts';

/** Bounds of one picture. */
export const PICTURE_BOUNDS = {
  /** Name, connection, TLS, and the whole body. */
  requestMs: 10_000,
  /** Width times height of the first frame. */
  pixels: 50_000_000,
  /** Most memory that decoding may need, by the estimate of `bytesAPixel`. */
  decodeBytes: 200 * 1024 * 1024,
  /** A process that takes longer to decode is killed. */
  decodeMs: 10_000,
} as const;

/** Once a result is older than this, a reviewer's look at the picture causes the next request. */
export const FRESH_MS = 60 * MINUTE_MS;
const FRESH_FAILURE_MS = 5 * MINUTE_MS;
/** A refusal of an address that had ended says nothing of the picture: the next run or pull brings another address. */
const FRESH_ENDED_MS = 15_000;

/** Responses with which servers refuse an address that has ended. */
const REFUSALS: ReadonlySet<PictureOutcome> = new Set(['http_error', 'not_found', 'redirect']);

/** The last request for a picture. */
type Requested = { url: string; fetched_at: Date | null };

/** Was a picture refused because its signed address had ended? */
const hadEnded = (outcome: PictureOutcome, { url, fetched_at }: Requested): boolean => {
  const end = REFUSALS.has(outcome) ? addressEnd(url) : undefined;
  return end !== undefined && fetched_at !== null && end <= fetched_at;
};

/**
 * The outcome of the last request for a picture, as it counts at the present address of a game: null, as before the first
 * request, if a picture without bytes was refused because an address had ended, and the present one has not.
 */
export const outcomeAt = (
  url: string,
  picture: Requested & { outcome: PictureOutcome | null; sha256: string | null },
  now: Date,
): PictureOutcome | null => {
  const { outcome, sha256 } = picture;
  if (outcome === null || sha256 !== null || !hadEnded(outcome, picture)) return outcome;
  const end = addressEnd(url);
  return end === undefined || end > now ? null : outcome;
};

/** Explains in a few words why a picture is not shown. */
export const explainPicture = (
  outcome: PictureOutcome,
  picture: Requested & { http_status: number | null },
): string => {
  const text = describePicture(outcome, picture.http_status);
  return hadEnded(outcome, picture) ? `${text}: its signed address had ended` : text;
};

/** @param recheckMs `PICTURE_RECHECK` */
export const freshMs = (isFailure: boolean, recheckMs: number): number =>
  Math.min(isFailure ? FRESH_FAILURE_MS : FRESH_MS, recheckMs / 2);

/** Returns how long a failure of now counts as fresh. */
export const freshFailureMs = (url: string, outcome: PictureOutcome, recheckMs: number, now: Date): number =>
  hadEnded(outcome, { url, fetched_at: now }) ? FRESH_ENDED_MS : freshMs(isPassing(outcome), recheckMs);

/**
 * Returns when a picture of a decided game is requested next: after 80 to 100 % of the interval, so that pictures that were
 * decided together spread. A failure that may pass is repeated within an hour.
 * @param random from 0 to 1
 */
export const nextCheckMs = (isFailure: boolean, recheckMs: number, random: number): number =>
  Math.min(recheckMs, isFailure ? FRESH_MS : recheckMs) * (0.8 + 0.2 * random);

/**
 * The id of a picture: the first 128 bits of the SHA-256 of its application and the identity of its address, as a UUID.
 * Two applications never share one, because each could then spoil the address of the other.
 */
export const pictureId = (application_id: string, address: string, rule: IdentityRule): string =>
  createHash('sha256')
    .update(`${application_id} ${addressIdentity(address, rule)}`)
    .digest('hex')
    .slice(0, 32)
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/**
 * Is a picture of a game still being fetched, or stored? With a store of pictures the game is not passed meanwhile, because
 * it would be served without the picture. A request that failed ends this wait.
 */
export const isFetching = (
  picture: { outcome: PictureOutcome | null; is_stored: boolean } | undefined,
): boolean =>
  picture === undefined ||
  picture.outcome === null ||
  picture.outcome === 'busy' ||
  (picture.outcome === 'shown' && !picture.is_stored);

export const IMAGE_FORMATS = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

const startsWith = (bytes: Uint8Array, text: string, at = 0): boolean =>
  Buffer.from(bytes.subarray(at, at + text.length)).toString('latin1') === text;

/** Bytes in which the root of an SVG document is looked for. */
const SVG_HEAD = 1_024;

/**
 * The type of an image by its first bytes; the name and the Content-Type are not considered.
 * @returns `svg` for an SVG document, null for anything else that is not a supported image
 */
export const sniffImage = (bytes: Uint8Array): ImageFormat | 'svg' | null => {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return 'png';
  if (startsWith(bytes, '\xff\xd8\xff')) return 'jpeg';
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)) return 'webp';
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'gif';
  if (startsWith(bytes, 'ftyp', 4) && (startsWith(bytes, 'avif', 8) || startsWith(bytes, 'avis', 8)))
    return 'avif';
  const head = Buffer.from(bytes.subarray(0, SVG_HEAD)).toString('utf8');
  return /^\s*<(?:\?xml|!DOCTYPE svg|!--|svg[\s>])/i.test(head) && /<svg[\s>]|<!DOCTYPE svg/i.test(head)
    ? 'svg'
    : null;
};

/** A smaller difference of two tones (0 to 255) is noise of the encoder. */
const TONES_MIN = 3;

/** The difference hash of 9 x 8 grey pixels: a bit is set if the next pixel is darker. Null if all bits are equal, as for one tone. */
export const differenceHash = (grey: Uint8Array): bigint | null => {
  let hash = 0n;
  for (let row = 0; row < 8; row += 1)
    for (let column = 0; column < 8; column += 1) {
      const at = row * 9 + column;
      hash = (hash << 1n) | ((grey[at] ?? 0) - (grey[at + 1] ?? 0) >= TONES_MIN ? 1n : 0n);
    }
  return hash === 0n || hash === 0xffff_ffff_ffff_ffffn ? null : BigInt.asIntN(64, hash);
};
