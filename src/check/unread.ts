/** What a response was that has no JSON: how it begins, or where it redirects to. */
import { quote } from '#src/check/quote.ts';
import type { Operation } from '#src/contract/words.ts';
import type { PostResponse } from '#src/egress/post.ts';
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

/** Of a KYC response, which may contain values of the record, says only whether it is HTML. */
export const describeBody = async (
  operation: Operation,
  reply: PostResponse,
  maxBytes: number,
  accessToken: string,
): Promise<string | undefined> => {
  const bytes = await decodeBody(reply, maxBytes).catch(() => reply.bytes);
  if (bytes === null) return undefined;
  const text = textOf(bytes)?.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return 'it is empty';
  if (operation === 'query_cp_kyc')
    return /^<(!doctype )?html\b/i.test(text ?? '')
      ? 'it is a page of HTML'
      : 'it is not shown, because it may contain values of the record';
  if (text !== undefined) return `it begins with "${quote(text, accessToken, CHARACTERS_SHOWN)}"`;
  if (bytes.includes(accessToken)) return undefined;
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
