import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import { READ_ONLY } from '#db/sqlstate.ts';

/**
 * Checks that Postgres accepts writes. The message that it writes waits for the disk and for a synchronous standby, as the
 * commit of a decision does.
 * @throws if it accepts none
 */
export const probeWrites = async (sql: Queryable): Promise<void> => {
  // Read first, because a replica refuses messages with an error that has no code of its own.
  if (
    await onlyValue(
      sql<{ read_only: boolean }[]>`select current_setting('transaction_read_only')::bool as read_only`,
    )
  )
    throw Object.assign(new Error('read-only'), { code: READ_ONLY });
  await sql`select pg_logical_emit_message(true, 'catalogue', '')`;
};
