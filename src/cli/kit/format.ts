import { roundDuration } from '#src/lib/duration.ts';

/** Formats how long ago a time was, in its largest unit: `45s`, `3m`, `5h`, `12d`. */
export const formatAge = (time: Date): string => {
  const ms = Date.now() - time.getTime();
  return ms >= 0 ? roundDuration(ms) : `in ${roundDuration(-ms)}`;
};

/** Date and time to the second in the local time zone, with its offset: `2026-03-31 14:35:00+05:30`. */
export const formatTime = (time: Date): string =>
  Temporal.Instant.fromEpochMilliseconds(time.getTime())
    .toZonedDateTimeISO(Temporal.Now.timeZoneId())
    .toString({ smallestUnit: 'second', timeZoneName: 'never' })
    .replace('T', ' ');

/** `1 game`, `2 games` */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Quotes a word for a POSIX shell, if it needs quotes. */
export const quoteForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
