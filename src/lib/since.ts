import { parseDuration } from '#src/lib/duration.ts';

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?))?$/;

/** `new Date` takes 2026-02-30 for 2 March. */
const isDay = (day: string): boolean => {
  const time = new Date(`${day}T00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
};

/**
 * Parses a duration before now, or a time (local if it has no zone).
 * @throws RangeError that gives examples
 */
export const parseSince = (text: string): Date => {
  const ms = parseDuration(text);
  const [, day = '', clock = '00:00'] = TIME.exec(text) ?? [];
  const time = new Date(Number.isNaN(ms) ? (isDay(day) ? `${day}T${clock}` : Number.NaN) : Date.now() - ms);
  // No list has older times.
  if (time.getFullYear() >= 1970) return time;
  throw new RangeError(
    'Give a duration such as 24h or 7d, or a time such as 2026-03-31 or 2026-03-31T14:35:00Z.',
  );
};
