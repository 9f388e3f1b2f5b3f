import type { Database } from '#db/client.ts';
import { INTERNAL_ERROR, isPostgresError } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const ALTER_ATTEMPTS = 10;

/** Changes a role. Retries, because Postgres refuses it while another database of the cluster changes the same role. */
export const alterRole = async (sql: Database, statement: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sql.unsafe(statement);
      return;
    } catch (thrown) {
      const error = coerceError(thrown);
      if (!isPostgresError(error, INTERNAL_ERROR) || attempt === ALTER_ATTEMPTS) throw error;
    }
  }
};
