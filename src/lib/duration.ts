export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/** Parses a duration such as `30s`, `15m`, `24h` or `90d`. @returns milliseconds, NaN if it is none */
export const parseDuration = (text: string): number => {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return Number(count) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? Number.NaN);
};

/** The shortest form of a duration: 900000 ms is `15m`. */
export const formatDuration = (ms: number): string => {
  for (const [unit, unitMs] of Object.entries(UNIT_MS)) {
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${Math.round(ms / 1_000)}s`;
};

/** A duration in its largest unit: `45s`, `3m`, `5h`, `12d`. @param ms negative counts as 0 */
export const roundDuration = (ms: number): string => {
  const [unit, unitMs] = Object.entries(UNIT_MS).find(([, each]) => ms >= each) ?? ['s', UNIT_MS.s];
  return `${Math.floor(Math.max(0, ms) / unitMs)}${unit}`;
};

const WORDS = { d: 'day', h: 'hour', m: 'minute', s: 'second' };

/** A duration as sentences have it: `15 minutes`. @param short a form of this file, such as `15m` */
export const spellDuration = (short: string): string => {
  const count = Number.parseInt(short, 10);
  return `${count} ${WORDS[short.at(-1) as keyof typeof WORDS]}${count === 1 ? '' : 's'}`;
};

const WAITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const;

/** A wait in words, rounded: `3 days`, `1 hour`; less than a minute is `1 minute`. */
export const spellWait = (ms: number): string => {
  const [unit, unitMs] = WAITS.find(([, each]) => ms >= each) ?? ['minute', MINUTE_MS];
  const count = Math.max(1, Math.round(ms / unitMs));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};
