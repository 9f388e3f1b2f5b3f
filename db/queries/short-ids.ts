import type { Queryable } from '#db/client.ts';
import { readColumn } from '#db/rows.ts';

/** Tables whose ids people type, and the column of the id. */
const ID_COLUMNS = {
  games: 'game_id',
  sync_runs: 'run_id',
  api_tokens: 'token_id',
  events: 'event_id',
  event_subscriptions: 'subscription_id',
  game_audits: 'batch_id',
} as const;
export type IdTable = keyof typeof ID_COLUMNS;

const HEX_DIGITS = 32;

/** Finds the ids that begin with these hexadecimal digits, in order, at most `limit`. Dashes are ignored. */
export const findIdsByPrefix = (sql: Queryable, table: IdTable, prefix: string, limit: number) => {
  const column = ID_COLUMNS[table];
  const digits = prefix.replaceAll('-', '');
  return readColumn(sql<{ id: string }[]>`
    select distinct ${sql(column)} as id from ${sql(table)}
    where ${sql(column)} between ${digits.padEnd(HEX_DIGITS, '0')} and ${digits.padEnd(HEX_DIGITS, 'f')}
    order by ${sql(column)} limit ${limit}`);
};
