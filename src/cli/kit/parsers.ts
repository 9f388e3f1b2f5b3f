import { InvalidArgumentError } from '@commander-js/extra-typings';
import { formatDuration, parseDuration } from '#src/lib/duration.ts';
import { isUuid } from '#src/lib/uuid.ts';

const DURATION_EXAMPLES = ['30s', '15m', '24h', '90d'];

/** @returns a parser of durations such as `15m`, to milliseconds */
export const durationBetween = (minMs: number, maxMs: number) => {
  const isAllowed = (ms: number): boolean => ms >= minMs && ms <= maxMs;
  return (text: string): number => {
    const ms = parseDuration(text);
    if (isAllowed(ms)) return ms;
    const examples = DURATION_EXAMPLES.filter((example) => isAllowed(parseDuration(example))).slice(0, 2);
    throw new InvalidArgumentError(
      `Give a duration such as ${examples.join(' or ')}, from ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
    );
  };
};

export const integerBetween =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  };

const APPLICATION_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const parseApplicationId = (text: string): string => {
  if (APPLICATION_ID.test(text)) return text;
  throw new InvalidArgumentError('Give lower-case letters, digits and "-", at most 63 characters.');
};

/** @returns the text without outer spaces */
export const parseNonEmpty = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw new InvalidArgumentError('It is empty.');
};

const DURATION_OR_TIME =
  'Give a duration such as 24h or 7d, or a time such as 2026-03-31 or 2026-03-31T14:35:00Z.';

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?))?$/;

/** `new Date` takes 2026-02-30 for 2 March. */
const isDay = (day: string): boolean => {
  const time = new Date(`${day}T00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
};

/** @returns the moment that lies this duration ago, or this time (local if it has no zone) */
export const parseSince = (text: string): Date => {
  const ms = parseDuration(text);
  const [, day = '', clock = '00:00'] = TIME.exec(text) ?? [];
  const time = new Date(Number.isNaN(ms) ? (isDay(day) ? `${day}T${clock}` : Number.NaN) : Date.now() - ms);
  // No list has older times.
  if (time.getFullYear() >= 1970) return time;
  throw new InvalidArgumentError(DURATION_OR_TIME);
};

export const parseUuid = (text: string): string => {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Give the whole id, as the list commands print it.');
};

/** @returns a parser of an argument that takes several values */
export const variadic =
  <Value>(parse: (text: string) => Value) =>
  (text: string, previous: Value[] = []): Value[] => [...previous, parse(text)];

/** Parameters that several commands have, to be spread into `argument()` or `option()`. */
export const APPLICATION = ['<application_id>', 'the application', parseApplicationId] as const;
export const ONLY_APPLICATION = ['[application_id]', 'only this application', parseApplicationId] as const;
export const APPROVAL = [
  '--approval <id>',
  'approval of a second person; the one who asked for it uses it once (npx catalogue approval list)',
  parseUuid,
] as const;
export const WAIT = ['--wait', 'wait for the result'] as const;
export const SINCE = [
  '--since <time>',
  'only from this time on (local, if it names no zone), or this long ago: 24h',
  parseSince,
] as const;
export const UNTIL = ['--until <time>', 'only before this time, or this long ago', parseSince] as const;
export const searchIn = (what: string) =>
  ['--search <text>', `only those with this text in ${what}, in any case`, parseNonEmpty] as const;
