const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';

/**
 * Reads a time of Postgres. Who writes rows may store an infinity, or a year that JavaScript lacks or that no ISO text of
 * ours has: the first or the last such time stands for it, so that no page of others fails.
 */
export const readTimestamp = (text: string): Date => {
  if (/^\d{4}-.*[^C]$/.test(text)) return new Date(text);
  return new Date(/^-|BC$/.test(text) ? FIRST : LAST);
};
