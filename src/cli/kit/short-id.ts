import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Queryable } from '#db/client.ts';
import { findIdsByPrefix, type IdTable } from '#db/queries/short-ids.ts';
import { type NamedThing, NotFoundError, UsageError } from '#src/errors.ts';

/** What the ids of each table name. */
const NOUNS: Record<IdTable, NamedThing> = {
  games: 'game',
  sync_runs: 'run',
  api_tokens: 'token',
  events: 'event',
  event_subscriptions: 'subscription',
  game_audits: 'batch',
};

/** Fewer hexadecimal digits would match too many ids. */
const DIGITS_MIN = 4;
const DIGITS_MAX = 32;
/** Ids that the message about an ambiguous one names. */
const NAMED_MAX = 3;

/** Digits alone, or a UUID with its hyphens that is cut after the first group or later. */
const ID_PREFIX = /^(?:[0-9a-f]+|[0-9a-f]{8}[0-9a-f-]*)$/i;

/** Parses an id, or its first digits. @returns it in lower case */
export const parseShortId = (text: string): string => {
  // Lists cut ids without "…", but an id may be copied from a text that cuts it so.
  const prefix = text.replace(/…$/, '');
  const digits = prefix.replaceAll('-', '').length;
  if (ID_PREFIX.test(prefix) && digits >= DIGITS_MIN && digits <= DIGITS_MAX) return prefix.toLowerCase();
  throw new InvalidArgumentError(
    `Give an id as the list commands print it, or at least its first ${DIGITS_MIN} digits.`,
  );
};

/**
 * Finds the id that begins with a prefix.
 * @throws NotFoundError if there is none, UsageError if there is more than one
 */
export const requireId = async (sql: Queryable, table: IdTable, prefix: string): Promise<string> => {
  const noun = NOUNS[table];
  const ids = await findIdsByPrefix(sql, table, prefix, NAMED_MAX + 1);
  const [id] = ids;
  if (id === undefined) throw new NotFoundError(noun, prefix);
  if (ids.length === 1) return id;
  const named = ids.slice(0, NAMED_MAX).join(', ');
  const others = ids.length > NAMED_MAX ? ' and others' : '';
  throw new UsageError(`Several ${noun} ids begin with ${prefix}: ${named}${others}. Give more digits.`);
};
