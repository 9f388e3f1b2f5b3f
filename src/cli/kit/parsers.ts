import { InvalidArgumentError } from '@commander-js/extra-typings';
import { applicationId } from '#src/contract/application-settings.ts';
import { formatDuration, parseDuration } from '#src/lib/duration.ts';
import { parseSince } from '#src/lib/since.ts';
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

export const integerUpTo =
  (max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`Give a whole number from 1 to ${max}.`);
  };

export const parseApplicationId = (text: string): string => {
  if (applicationId.safeParse(text).success) return text;
  throw new InvalidArgumentError('Give lower-case letters, digits and "-", at most 63 characters.');
};

/** @returns the text without outer spaces */
export const parseNonEmpty = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw new InvalidArgumentError('It is empty.');
};

export const parseUuid = (text: string): string => {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Give the whole id, as the list commands print it.');
};

/** @returns the time of a text such as `24h` or `2026-03-31`, which is local if it names no zone */
export const parseMoment = (text: string): Date => {
  try {
    return parseSince(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

/** @returns a parser of an argument that takes several values */
export const variadic =
  <Value>(parse: (text: string) => Value) =>
  (text: string, previous: Value[] = []): Value[] => [...previous, parse(text)];

/** Parameters that several commands have, to be spread into `argument()` or `option()`. */
export const APPLICATION = ['<application_id>', 'the application', parseApplicationId] as const;
export const APPROVAL = [
  '--approval <id>',
  'approval of a second person; the one who requested it uses it once (npx catalogue approval list)',
  parseUuid,
] as const;
export const BY = ['--by <who>', 'name of the operator', parseNonEmpty] as const;
export const WAIT = ['--wait', 'wait for the result'] as const;
export const searchIn = (what: string) =>
  ['--search <text>', `only those with this text in ${what}, in any case`, parseNonEmpty] as const;
