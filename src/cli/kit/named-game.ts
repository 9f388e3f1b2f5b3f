import { InvalidArgumentError } from '@commander-js/extra-typings';
import { integerUpTo } from '#src/cli/kit/parsers.ts';
import { parseShortId } from '#src/cli/kit/short-id.ts';

/** A game as lists print it and decisions name it: with the revision that was seen, or without. */
export type NamedGame = { prefix: string; revision: number | undefined };

export const parseRevision = integerUpTo(2 ** 31 - 1);
export const GAME_AT_REVISION = 'Give an id with the revision that you saw, such as 019a…@2.';

/** `019a…@2`, or an id alone. */
export const parseNamedGame = (given: string): NamedGame => {
  const [id = '', revision, ...rest] = given.split('@');
  if (rest.length > 0) throw new InvalidArgumentError(GAME_AT_REVISION);
  return { prefix: parseShortId(id), revision: revision === undefined ? undefined : parseRevision(revision) };
};

/** Parses the game of a command that concerns no single revision. One that is named is ignored. */
export const parseGame = (given: string): string => parseNamedGame(given).prefix;
export const GAME = ['<game_id>', 'the game', parseGame] as const;
