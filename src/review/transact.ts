import type { Database, Queryable } from '#db/client.ts';
import { DEADLOCK_DETECTED, isPostgresError } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const DEADLOCK_ATTEMPTS = 3;

/** Runs a transaction again when Postgres ended it for a deadlock: a run that withdraws games locks in another order. */
export const transact = async <Result>(
  sql: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sql.begin(work);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (!isPostgresError(error, DEADLOCK_DETECTED) || attempt === DEADLOCK_ATTEMPTS) throw error;
    }
  }
};
