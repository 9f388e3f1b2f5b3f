import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import { CatalogueError } from '#src/errors.ts';

/** Checks that Postgres accepts writes: this takes a transaction id, so its commit is written. @throws if it does not */
export const probeWrites = async (sql: Queryable): Promise<void> => {
  // A replica refuses transaction ids by an error without a code of its own.
  if (
    await onlyValue(
      sql<{ read_only: boolean }[]>`select current_setting('transaction_read_only')::bool as read_only`,
    )
  )
    throw new CatalogueError(
      'Postgres is read-only (25006): point DATABASE_URL to the primary, because this server is a replica or its default_transaction_read_only is on.',
    );
  await sql`select pg_current_xact_id()`;
};
