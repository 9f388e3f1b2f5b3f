import { InvalidArgumentError } from 'commander';
import { IDENTIFIER_MAX, identifier } from '#src/contract/text.ts';

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Read a span of time such as `30s`, `15m`, `24h` or `90d`. @returns milliseconds */
export const duration =
  (bounds: { minMs: number; maxMs: number }) =>
  (text: string): number => {
    const match = /^(\d+)([smhd])$/.exec(text);
    const ms = Number(match?.[1]) * (UNIT_MS[match?.[2] ?? ''] ?? Number.NaN);
    if (ms >= bounds.minMs && ms <= bounds.maxMs) return ms;
    throw new InvalidArgumentError(
      `Give a span such as 30s, 15m, 24h or 90d, from ${formatDuration(bounds.minMs)} to ${formatDuration(bounds.maxMs)}.`,
    );
  };

/** The shortest way to write a span: 900000 is `15m`. */
export const formatDuration = (ms: number): string => {
  for (const [unit, size] of Object.entries(UNIT_MS).reverse()) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${Math.round(ms / 1_000)}s`;
};

export const integer =
  (bounds: { min: number; max: number }) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= bounds.min && value <= bounds.max) return value;
    throw new InvalidArgumentError(`Give a whole number from ${bounds.min} to ${bounds.max}.`);
  };

/** A moment as the command line shows it. */
export const formatMoment = (moment: Date | null | undefined): string =>
  moment == null ? '' : moment.toISOString().replace('T', ' ').slice(0, 19);

const APPLICATION_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const applicationId = (text: string): string => {
  if (APPLICATION_ID.test(text)) return text;
  throw new InvalidArgumentError('Give lower-case letters, digits and "-", 63 characters at most.');
};

/** An application's own id of a game: whatever the interface document lets it be (section 2.4). */
export const applicationGameId = (text: string): string => {
  if (identifier.safeParse(text).success) return text;
  throw new InvalidArgumentError(
    `Give an id of 1 to ${IDENTIFIER_MAX} characters, as the application has it.`,
  );
};

const NAME_MAX = 200;

/** A name for people to know something by, without the blanks around it. */
export const displayName = (text: string): string => {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_MAX) return name;
  throw new InvalidArgumentError(`Give a name of 1 to ${NAME_MAX} characters.`);
};

/** The values of an argument that may be given several times, each read by `read`. */
export const each =
  <Value>(read: (text: string) => Value) =>
  (text: string, before: Value[] = []): Value[] => [...before, read(text)];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const uuid = (text: string): string => {
  if (UUID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Give the whole id, as a list shows it.');
};
