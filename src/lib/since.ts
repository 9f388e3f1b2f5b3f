import { parseDuration } from '#src/lib/duration.ts';

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** `new Date` takes 2026-02-30 for 2 March. */
const isDay = (day: string): boolean => {
  const time = new Date(`${day}T00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
};

/**
 * Parses a duration before now, or a time.
 * @param zone the time zone of a time without one; local for times that a person types in a terminal
 * @throws RangeError that gives examples
 */
export const parseSince = (text: string, zone: 'local' | 'UTC' = 'local'): Date => {
  const ms = parseDuration(text);
  const [, day = '', clock = '00:00', offset = zone === 'UTC' ? 'Z' : ''] = TIME.exec(text) ?? [];
  const typed = isDay(day) ? `${day}T${clock}${offset}` : Number.NaN;
  const time = new Date(Number.isNaN(ms) ? typed : Date.now() - ms);
  // Older times are refused, because no list has any.
  if (time.getFullYear() >= 1970) return time;
  throw new RangeError(
    'Give a duration such as 24h or 7d, or a time such as 2026-03-31 or 2026-03-31T14:35:00Z.',
  );
};
