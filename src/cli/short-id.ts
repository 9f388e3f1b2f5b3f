import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Queryable } from '#db/client.ts';
import { findIdsByPrefix, type IdTable } from '#db/queries/short-ids.ts';
import { UsageError } from '#src/errors.ts';

const NOUNS: Record<IdTable, string> = {
  games: 'game',
  sync_runs: 'run',
  api_tokens: 'token',
  events: 'event',
};
const LISTS: Record<IdTable, string> = {
  games: 'game list',
  sync_runs: 'run list',
  api_tokens: 'token list',
  events: 'event list',
};

const DIGITS_MIN = 4;
const SHOWN = 3;

/** Is this the beginning of a UUID, or a whole one? */
export const isIdPrefix = (text: string): boolean => {
  const digits = text.replaceAll('-', '');
  return (
    /^[0-9a-f]{8}(-?[0-9a-f-]*)?$|^[0-9a-f]+$/i.test(text) &&
    digits.length >= DIGITS_MIN &&
    digits.length <= 32
  );
};

/** The beginning of a UUID, in lower case. */
export const parseShortId = (text: string): string => {
  // Lists cut ids without "…", but their reader may have copied one from another place.
  const prefix = text.replace(/…$/, '');
  if (isIdPrefix(prefix)) return prefix.toLowerCase();
  throw new InvalidArgumentError('Give an id as the list commands print it, or at least its first 4 digits.');
};

/**
 * The whole id for one that may be cut short.
 * @throws UsageError when no id begins so, or several do
 */
export const requireId = async (sql: Queryable, table: IdTable, prefix: string): Promise<string> => {
  const found = await findIdsByPrefix(sql, table, prefix, SHOWN + 1);
  const [id] = found;
  if (id === undefined)
    throw new UsageError(`There is no ${NOUNS[table]} ${prefix}. List them: npx catalogue ${LISTS[table]}`);
  if (found.length === 1) return id;
  const more = found.length > SHOWN ? ' and others' : '';
  throw new UsageError(
    `Several ids of ${NOUNS[table]}s begin with ${prefix}: ${found.slice(0, SHOWN).join(', ')}${more}. Give more of its digits.`,
  );
};
