/** Describes a response that has no JSON: how it begins, or where it redirects to. */
import { quote } from '#src/check/quote.ts';
import type { Operation } from '#src/contract/words.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import type { PostResponse } from '#src/egress/post.ts';
import { hideToken } from '#src/webhooks/hide-token.ts';
import { decodeBody } from '#src/webhooks/read-json.ts';

const BYTES_SHOWN = 8;
const CHARACTERS_SHOWN = 160;
const LOCATION_MAX = 2_048;

const textOf = (bytes: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const CUT = 'it ends before the JSON does: content-length is the number of bytes, not of characters';
const ENDLESS = 'it ends before the JSON does: send all of it, with content-length or chunks';
const ZIPPED = 'this is gzip, and the header content-encoding: gzip is missing';
const ZIPPED_TWICE = 'it was compressed twice, by the application and by a proxy before it';

/** Finds what is wrong with a text that begins as JSON, in the words of the parser, which quote a few characters. */
const findFault = (text: string): string | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as SyntaxError;
    return /^Unterminated|end of JSON/.test(message) ? CUT : message;
  }
};

/** Counts the bytes before the first one that is no UTF-8. U+FFFD, which stands for such bytes, may be in the text itself. */
const countReadable = (bytes: Buffer): number => {
  let count = 0;
  for (const part of bytes.toString().split('\uFFFD')) {
    count += Buffer.byteLength(part);
    if (bytes.toString('hex', count, count + 3) !== 'efbfbd') break;
    count += 3;
  }
  return count;
};

/**
 * Describes a body. A KYC response may contain values of the record, so its description says only whether it is HTML,
 * compressed or cut.
 */
export const describeBody = async (
  operation: Operation,
  reply: PostResponse,
  maxBytes: number,
  accessToken: string,
  code: CallErrorCode,
): Promise<string | undefined> => {
  const bytes = await decodeBody(reply, maxBytes).catch(() => reply.bytes);
  if (bytes === null) return undefined;
  const whole = textOf(bytes);
  const text = whole?.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return 'it is empty';
  if (code === 'not_utf8' && bytes[0] === 0x1f && bytes[1] === 0x8b)
    return reply.contentEncoding === undefined ? ZIPPED : ZIPPED_TWICE;
  const found = code === 'not_json' ? findFault(hideToken(whole ?? '', accessToken)) : undefined;
  const fault = found === CUT && !reply.hasEnd ? ENDLESS : found;
  if (operation === 'query_cp_kyc') {
    if (/^<(!doctype )?html\b/i.test(text ?? '')) return 'it is a page of HTML';
    return fault === CUT || fault === ENDLESS
      ? fault
      : 'it is not shown, because it may contain values of the record';
  }
  if (text !== undefined) {
    const begins = `it begins with "${quote(text, accessToken, CHARACTERS_SHOWN)}"`;
    return fault === undefined ? begins : `${quote(fault, accessToken, CHARACTERS_SHOWN)}; ${begins}`;
  }
  if (bytes.includes(accessToken)) return undefined;
  const readable = countReadable(bytes);
  if (readable > BYTES_SHOWN) {
    const before = hideToken(bytes.toString('utf8', 0, readable), accessToken).slice(-CHARACTERS_SHOWN / 2);
    const byte = bytes.toString('hex', readable, readable + 1);
    return `the byte ${byte} is no part of it; before it is "${quote(before.trim(), accessToken, CHARACTERS_SHOWN)}"`;
  }
  const shown = [...bytes.subarray(0, BYTES_SHOWN)].map((byte) => byte.toString(16).padStart(2, '0'));
  return `it begins with the bytes ${shown.join(' ')}`;
};

/** Leaves out the query, and of a KYC webhook the path. */
export const describeRedirect = (
  operation: Operation,
  location: string | undefined,
  url: string,
  accessToken: string,
): string => {
  if (location === undefined) return 'redirects, and does not say where to';
  const target = location.length > LOCATION_MAX ? null : URL.parse(location, url);
  if (target === null) return 'redirects to what is no URL';
  const path = operation === 'query_cp_kyc' ? '/…' : target.pathname;
  const address = `${target.protocol}//${target.host}${path}${target.search === '' ? '' : '?…'}`;
  return `redirects to ${quote(address, accessToken, CHARACTERS_SHOWN)}`;
};
