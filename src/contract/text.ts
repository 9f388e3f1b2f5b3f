import { z } from 'zod';

/** Longest name we take, in characters (Unicode code points). */
export const NAME_MAX = 512;
/** Longest description we take, in characters (Unicode code points). */
export const DESCRIPTION_MAX = 65_536;
/** Most URLs in one list. */
export const URLS_MAX = 100;
/** Longest URL we take, in characters (Unicode code points). */
export const URL_MAX = 2_048;
/** Longest identifier we take: it becomes part of an index key. */
export const IDENTIFIER_MAX = 512;

const NUL = '\u0000';

/** Characters as Postgres counts them: an emoji is one, though JavaScript says two. */
const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/**
 * Text that Postgres can store and give back unchanged: no U+0000 and no lone surrogate (design, section 5,
 * decision 12). `null` and numbers are refused (decision 10).
 */
export const storableText = (maxLength: number) =>
  z
    .string()
    .refine((text) => text.length <= maxLength || codePoints(text) <= maxLength, {
      params: { code: 'too_long' },
      error: `is longer than ${maxLength} characters`,
    })
    .refine((text) => !text.includes(NUL) && text.isWellFormed(), {
      params: { code: 'not_storable' },
      error: 'holds U+0000 or a lone surrogate, which Postgres cannot store',
    });

/** A non-empty identifier: `game_id`, `cp_id` (decision 10). */
export const identifier = storableText(IDENTIFIER_MAX).min(1);

const HTTP_HOST = /^https?:\/\/[^/\\?#]/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const REPAIRED = /^\s|\s$|[\u0000-\u001f\u007f]/;

/** What a parser would put right in silence is no URL either: it is kept as it was sent. */
const isHttpUrl = (text: string): boolean =>
  HTTP_HOST.test(text) && !REPAIRED.test(text) && URL.canParse(text);

/** An http or https URL, kept to the letter as it was sent (decision 11). */
export const httpUrl = storableText(URL_MAX).refine(isHttpUrl, {
  params: { code: 'not_http_url' },
  error: 'is not an http or https URL',
});
