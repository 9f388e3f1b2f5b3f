/** Returns the time of these milliseconds since 1970; null for a number that is no time, which others may write to a queue. */
export const timeOf = (ms = Number.NaN): Date | null => {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? null : time;
};

/** The day of a time in UTC: `2026-03-31`. */
export const formatDay = (time: Date): string => time.toISOString().slice(0, 10);

/** A time in UTC, to the second: `2026-03-31 12:00:00 UTC`. */
export const formatUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
