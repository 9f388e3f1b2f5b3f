import { z } from 'zod';

// Lengths are in characters (Unicode code points), those of hosts in UTF-16 code units.
export const NAME_MAX = 512;
export const DESCRIPTION_MAX = 65_536;
/** Maximum number of URLs in one list. */
export const URLS_MAX = 100;
export const URL_MAX = 2_048;
/** The limit of identifiers, because they are parts of index keys. */
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

type Rule = { code: string; error: string; isMet: (text: string) => boolean };

const atMost = (maxLength: number): Rule => ({
  code: 'too_long',
  error: `is longer than ${maxLength} characters`,
  isMet: (text) =>
    text.length <= maxLength || (text.length <= 2 * maxLength && countCharacters(text) <= maxLength),
});

const STORABLE: Rule = {
  code: 'not_storable',
  error: 'contains U+0000 or a lone surrogate, which Postgres cannot store',
  isMet: (text) => !text.includes(NUL) && text.isWellFormed(),
};

/** Checks the rules in order and reports the first broken one only, so a rule may rely on those before it. */
const textWithRules = (...rules: Rule[]) =>
  z.string('must be a string').check(({ value, issues }) => {
    const broken = rules.find((rule) => !rule.isMet(value));
    if (broken === undefined) return;
    const { code, error } = broken;
    issues.push({ code: 'custom', input: value, params: { code }, message: error, continue: false });
  });

/**
 * Text that Postgres stores and returns unchanged: no U+0000 and no lone surrogate. `null` and numbers are invalid.
 */
export const storableText = (maxLength: number) =>
  textWithRules(atMost(maxLength), STORABLE).meta({ maxLength });

/** Most characters of a text that a person writes for others. */
export const PROSE_MAX = 4_000;

/** A text that a person writes. A form sends each line break as CRLF and counts it as one character, so it is stored as LF. */
export const prose = z
  .string()
  .transform((text) => text.replaceAll('\r\n', '\n').trim())
  .pipe(storableText(PROSE_MAX));

/** Most characters of a reason. */
export const REASON_MAX = 1_000;
/** The schema of an operator's reason. @param needed who needs it, as the end of a message */
export const reasonText = (needed: string) => storableText(REASON_MAX).trim().min(1, `is empty: ${needed}`);

/** A non-empty identifier: `game_id`, `cp_id`. */
export const identifier = storableText(IDENTIFIER_MAX).min(1, 'must not be empty');

const HTTP_HOST = /^https?:\/\/[^/\\?#]/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a URL parser removes or escapes these characters
const CHANGED_BY_PARSER = /^\s|\s$|[\u0000-\u001f\u007f]/;
/** Captures the authority of a URL if it is longer than one label may be, because only then a label can be too long. */
const LONG_AUTHORITY = /^https?:\/\/([^/\\?#]{64,})/i;

/**
 * URL.canParse encodes each label of a host as Punycode, in time quadratic in the label's different characters: 0.2 ms
 * for 253 Han characters, 20 to 40 ms for 2,000. Without this limit, the 200 URLs of one hostile detail block the process for seconds.
 */
const isHostTooLong = (url: string): boolean => {
  const authority = LONG_AUTHORITY.exec(url)?.[1];
  if (authority === undefined) return false;
  const host = authority.replace(/^.*@|:\d*$/g, '');
  return host.length > HOST_MAX || host.split('.').some((label) => label.length > LABEL_MAX);
};

/**
 * A text is stored as it was sent. Therefore one with C0 control characters or DEL, or with white space at its ends, is no
 * URL here, because a URL parser would change it. A parser's other repairs (a space or a backslash in the path) are
 * accepted.
 */
const isHttpUrl = (text: string): boolean =>
  HTTP_HOST.test(text) && !CHANGED_BY_PARSER.test(text) && !isHostTooLong(text) && URL.canParse(text);

/** How the OpenAPI document describes a URL. */
const HTTP_URL = { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://', maxLength: URL_MAX };

/** An http or https URL, stored exactly as it was sent. */
export const httpUrl = textWithRules(atMost(URL_MAX), STORABLE, {
  code: 'not_http_url',
  error: 'is not a valid http or https URL',
  isMet: isHttpUrl,
}).meta(HTTP_URL);

/** "" or an http or https URL. */
export const optionalHttpUrl = textWithRules(atMost(URL_MAX), STORABLE, {
  code: 'not_http_url',
  error: 'is neither "" nor an http or https URL',
  isMet: (text) => text === '' || isHttpUrl(text),
}).meta({ anyOf: [{ const: '' }, HTTP_URL] });

/**
 * Why an item is invalid: the path of a field (`game_icon.3`) and a code, never the value. `page`: of the list, for a row
 * without a usable id.
 */
export type Reason = { path: string; code: string; page?: number | undefined };

const REASONS_MAX = 20;

/** Returns at most 20 reasons of a failed validation. A code is zod's issue code, or that of a rule above. */
export const reasonsOf = (error: z.ZodError): Reason[] =>
  error.issues.slice(0, REASONS_MAX).map((issue) => ({
    path: issue.path.join('.'),
    code: issue.code === 'custom' ? String(issue.params?.code ?? 'custom') : issue.code,
  }));
