import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Reason } from '#src/contract/text.ts';
import { CallError } from '#src/egress/errors.ts';
import { ACCEPT_ENCODING } from '#src/egress/http-post.ts';
import type { PostResponse } from '#src/egress/post.ts';
import { findJsonExcess, type JsonLimits } from '#src/lib/json-excess.ts';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, MEMORY } from '#src/rules/budgets.ts';
import { takeEventLoopTurn } from '#src/webhooks/turns.ts';

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
};
const isCoding = (text: string): text is keyof typeof DECODERS => Object.hasOwn(DECODERS, text);

/** How the bytes of an answer are accounted for. */
export type Meter = {
  /** Resolves when more than `MEMORY.ordinaryBytes` may be decompressed. */
  admitLarge: () => Promise<void>;
  /** Takes the size of the body after decompression. */
  charge: (bytes: number) => void;
  /** Runs synchronous work and counts its time. */
  time: <Result>(work: () => Result) => Result;
};
export const UNMETERED: Meter = { admitLarge: async () => {}, charge: () => {}, time: (work) => work() };

/** The error of a body that cannot be read. */
const unreadable = (
  { hasEnd }: PostResponse,
  code: 'not_decodable' | 'not_utf8' | 'not_json',
  message: string,
  reasons: Reason[] = [],
): CallError =>
  hasEnd
    ? new CallError(code, message, { reasons })
    : new CallError(code, `${message}; it named no length, so its body may have been cut`, {
        reasons: [{ path: '', code: 'without_length' }],
        mayBeCut: true,
      });

/**
 * Decompresses the body, of `maxBytes` at most. One coding only, because each further one multiplies the size that a byte
 * can expand to.
 */
export const decodeBody = async (
  response: PostResponse,
  maxBytes: number,
  meter: Meter = UNMETERED,
): Promise<Buffer> => {
  const { bytes, contentEncoding = '' } = response;
  const tooLarge = () => new CallError('body_too_large', `the response is larger than ${maxBytes} bytes`);
  if (bytes === null) throw tooLarge();
  const coding = contentEncoding.trim().toLowerCase();
  // An empty body, as of a 204, needs no decoding.
  if (coding === '' || coding === 'identity' || bytes.length === 0) return bytes;
  if (!isCoding(coding)) {
    throw new CallError('not_decodable', `its content-encoding is not one of: ${ACCEPT_ENCODING}`);
  }
  /** Null if there are more than `maxOutputLength` bytes. */
  const decompress = (maxOutputLength: number): Promise<Buffer | null> =>
    DECODERS[coding](bytes, { maxOutputLength }).catch((error: unknown) => {
      if (error instanceof RangeError) return null;
      throw unreadable(
        response,
        'not_decodable',
        `the response is not ${coding}, as its content-encoding says`,
      );
    });
  const ordinary = await decompress(Math.min(maxBytes, MEMORY.ordinaryBytes));
  if (ordinary !== null) return ordinary;
  await meter.admitLarge();
  const large = await decompress(maxBytes);
  if (large === null) throw tooLarge();
  return large;
};

const EXCESS = {
  too_deep: `the response nests deeper than ${MAX_JSON_DEPTH} levels`,
  too_many_values: `the response has more than ${MAX_JSON_VALUES} keys and values`,
};

const LIMITS: JsonLimits = { depth: MAX_JSON_DEPTH, values: MAX_JSON_VALUES };

/** Throws at a byte that is not UTF-8. A byte order mark is ignored (RFC 8259, section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const readText = (response: PostResponse, bytes: Buffer): string => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw unreadable(response, 'not_utf8', 'the response is not UTF-8');
  }
  const excess = findJsonExcess(text, LIMITS);
  if (excess !== undefined) throw new CallError(excess, EXCESS[excess]);
  return text;
};

/**
 * The JSON value of a response's body.
 *
 * @param maxBytes most bytes after decompression
 * @throws CallError `body_too_large`, `not_decodable`, `not_utf8`, `too_deep`, `too_many_values` or `not_json`;
 *   without any text of the body, which may be a KYC record; retryable if the response named no length
 */
export const readJson = async (
  response: PostResponse,
  maxBytes: number,
  meter: Meter = UNMETERED,
): Promise<unknown> => {
  // A body that is too large, or does not decompress, has cost as much as the largest.
  let size = maxBytes;
  let bytes: Buffer;
  try {
    bytes = await decodeBody(response, maxBytes, meter);
    size = bytes.length;
  } finally {
    meter.charge(size);
  }
  await takeEventLoopTurn();
  const text = meter.time(() => readText(response, bytes));
  await takeEventLoopTurn();
  try {
    return meter.time(() => JSON.parse(text));
  } catch {
    const reasons = text === '' ? [{ path: '', code: 'empty' }] : [];
    throw unreadable(response, 'not_json', 'the response is not JSON', reasons);
  }
};
