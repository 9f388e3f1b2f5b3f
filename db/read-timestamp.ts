const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';

/**
 * Reads a time of Postgres. A stolen login may store an infinity, or a year that JavaScript or ISO texts lack. The first or
 * the last valid time replaces it, so that pages that show it do not fail.
 */
export const readTimestamp = (text: string): Date => {
  if (/^\d{4}-.*[^C]$/.test(text)) return new Date(text);
  return new Date(/^-|BC$/.test(text) ? FIRST : LAST);
};
