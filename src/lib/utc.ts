/** A time in UTC, to the second: `2026-03-31 12:00:00 UTC`. */
export const formatUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
