import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { z } from 'zod';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import { reasonsOf } from '#src/contract/reasons.ts';
import { WAITING } from '#src/rules/waiting.ts';
import { MAX_JSON_DEPTH, RET_MSG_MAX } from '#src/webhooks/bounds.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { ACCEPT_ENCODING, type PostResponse } from '#src/webhooks/http-post.ts';

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
};
const isCoding = (text: string): text is keyof typeof DECODERS => Object.hasOwn(DECODERS, text);

/** Decompresses the body. One coding only: each further one multiplies the size that a byte can expand to. */
const decode = async ({ bytes, contentEncoding = '' }: PostResponse, maxBytes: number): Promise<Buffer> => {
  const tooLarge = () => new WebhookError('body_too_large', `the response is larger than ${maxBytes} bytes`);
  if (bytes === null) throw tooLarge();
  const coding = contentEncoding.trim().toLowerCase();
  // An empty body, as of a 204, needs no decoding.
  if (coding === '' || coding === 'identity' || bytes.length === 0) return bytes;
  if (!isCoding(coding)) {
    throw new WebhookError('not_decodable', `its content-encoding is not one of: ${ACCEPT_ENCODING}`);
  }
  try {
    return await DECODERS[coding](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw new WebhookError('not_decodable', `its content-encoding is ${coding}, but its bytes are not`);
  }
};

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Does this JSON text nest deeper than `max`? Counts the brackets outside strings, without parsing. */
export const isDeeperThan = (text: string, max: number): boolean => {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      isInString = !isInString;
    } else if (isInString) {
      if (character === BACKSLASH) index += 1;
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth += 1;
      if (depth > max) return true;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
};

/** Throws at a byte that is not UTF-8. A byte order mark is ignored (RFC 8259, section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON value of a response's body.
 *
 * @param maxBytes most bytes after decompression
 * @throws WebhookError `body_too_large`, `not_decodable`, `not_utf8`, `too_deep` or `not_json`; without any text of
 *   the body, which may be a KYC record
 */
export const readJson = async (response: PostResponse, maxBytes: number): Promise<unknown> => {
  const bytes = await decode(response, maxBytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new WebhookError('not_utf8', 'the response is not UTF-8');
  }
  if (isDeeperThan(text, MAX_JSON_DEPTH)) {
    throw new WebhookError('too_deep', `the response nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookError('not_json', 'the response is not JSON');
  }
};

// Control characters, line separators and bidirectional marks: unsafe in a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A `ret_msg` that is safe to store and show: one line, 200 characters, without the access token. */
const sanitizeRetMsg = (retMsg: string, accessToken: string): string => {
  const text = retMsg.replaceAll(accessToken, '[access token]').slice(0, 2 * RET_MSG_MAX);
  return [...text.replace(UNPRINTABLE, ' ').toWellFormed()].slice(0, RET_MSG_MAX).join('');
};

/** Retry-After (RFC 9110, section 10.2.3) of a 429 or 503 in milliseconds from now, clamped. */
const retryAfterMs = ({ status, retryAfter }: PostResponse): number | undefined => {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return undefined;
  const text = retryAfter.trim();
  // Date.parse accepts "-1" and "1.5". An HTTP date names its month.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : date - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), WAITING.retryAfterMaxMs);
};

export type EnvelopeOptions = {
  maxBytes: number;
  accessToken: string;
  /** False for KYC: a `ret_msg` could quote a value of the record (decision 14). */
  keepRetMsg: boolean;
};

/**
 * Reads the `data` of a response, which `readData` validates. The HTTP status matters only without an envelope
 * (sections 2.1 and 7).
 *
 * @throws WebhookError `ret_code`, `http_status`, `not_envelope`, and as `readJson`
 */
export const readEnvelope = async (response: PostResponse, options: EnvelopeOptions): Promise<unknown> => {
  const { maxBytes, accessToken, keepRetMsg } = options;
  const { status } = response;
  const statusError = () =>
    new WebhookError('http_status', `HTTP status ${status}, without an envelope`, {
      status,
      retryAfterMs: retryAfterMs(response),
    });

  let json: unknown;
  try {
    json = await readJson(response, maxBytes);
  } catch (error) {
    throw status >= 400 ? statusError() : error;
  }
  const envelope = envelopeSchema.safeParse(json);
  if (!envelope.success) {
    if (status >= 400) throw statusError();
    const reasons = reasonsOf(envelope.error);
    throw new WebhookError('not_envelope', 'the response is not the envelope of section 2.1', {
      status,
      reasons,
    });
  }
  const { ret_code: retCode, ret_msg, data } = envelope.data;
  if (retCode === RET_CODE_SUCCESS) return data;
  const retMsg = keepRetMsg ? sanitizeRetMsg(ret_msg, accessToken) : undefined;
  throw new WebhookError(
    'ret_code',
    `the application reports ret_code ${retCode}${retMsg === undefined ? '' : `: ${retMsg}`}`,
    { status, retCode, retMsg, retryAfterMs: retryAfterMs(response) },
  );
};

/**
 * `data` as the operation's section defines it.
 *
 * @throws WebhookError `invalid_data` with paths and codes, never with a value
 */
export const readData = <Schema extends z.ZodType>(schema: Schema, data: unknown): z.infer<Schema> => {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new WebhookError('invalid_data', 'data does not match the interface document', {
    reasons: reasonsOf(parsed.error),
  });
};
