import { z } from 'zod';

// Lengths are in characters (Unicode code points).
export const NAME_MAX = 512;
export const DESCRIPTION_MAX = 65_536;
/** Maximum number of URLs in one list. */
export const URLS_MAX = 100;
export const URL_MAX = 2_048;
/** Limited, because identifiers are parts of index keys. */
export const IDENTIFIER_MAX = 512;
/** Longest name of a host, and longest part of it between dots (RFC 1035, section 2.3.4). */
const HOST_MAX = 253;
const LABEL_MAX = 63;

const NUL = '\u0000';

/** Counts characters as Postgres does. `length` counts an emoji as two. */
const countCharacters = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** A failed check ends the validation (`abort`): later checks require a text of bounded length. */
const refinement = (code: string, error: string) => ({ params: { code }, error, abort: true });

/**
 * Text that Postgres stores and returns unchanged: no U+0000 and no lone surrogate (decision 12). `null` and numbers
 * are invalid (decision 10).
 */
export const storableText = (maxLength: number) =>
  z
    .string()
    .refine(
      (text) =>
        text.length <= maxLength || (text.length <= 2 * maxLength && countCharacters(text) <= maxLength),
      refinement('too_long', `is longer than ${maxLength} characters`),
    )
    .refine(
      (text) => !text.includes(NUL) && text.isWellFormed(),
      refinement('not_storable', 'contains U+0000 or a lone surrogate, which Postgres cannot store'),
    )
    .meta({ maxLength });

/** A non-empty identifier: `game_id`, `cp_id` (decision 10). */
export const identifier = storableText(IDENTIFIER_MAX).min(1);

const AUTHORITY = /^https?:\/\/([^/\\?#]+)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a URL parser removes these characters
const REMOVED_BY_PARSER = /^\s|\s$|[\u0000-\u001f\u007f]/;

/**
 * URL.canParse encodes each label of a host as Punycode, in time quadratic in the label's different characters: 0.2 ms
 * for 253 Han characters, 20 to 40 ms for 2,000. Without this limit, 256 hostile rows block the process for seconds.
 */
const isHostTooLong = (authority: string): boolean => {
  const host = authority.replace(/^.*@|:\d*$/g, '');
  return host.length > HOST_MAX || host.split('.').some((label) => label.length > LABEL_MAX);
};

/** Rejects a text that a URL parser would repair, because the text is stored unchanged. */
const isHttpUrl = (text: string): boolean => {
  const [, authority = ''] = AUTHORITY.exec(text) ?? [];
  return authority !== '' && !REMOVED_BY_PARSER.test(text) && !isHostTooLong(authority) && URL.canParse(text);
};

/** A URL in the OpenAPI document. */
const HTTP_URL = { format: 'uri', pattern: '^https?://', maxLength: URL_MAX };

/** An http or https URL, stored exactly as it was sent (decision 11). */
export const httpUrl = storableText(URL_MAX)
  .refine(isHttpUrl, refinement('not_http_url', 'is not an http or https URL'))
  .meta(HTTP_URL);

/** "" or an http or https URL. */
export const optionalHttpUrl = storableText(URL_MAX)
  .refine(
    (text) => text === '' || isHttpUrl(text),
    refinement('not_http_url', 'is neither "" nor an http or https URL'),
  )
  .meta({ anyOf: [{ const: '' }, HTTP_URL] });
