import type { Database, Queryable } from '#db/client.ts';
import { DEADLOCK_DETECTED, isPostgresError } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const DEADLOCK_ATTEMPTS = 3;

/** Thrown by the work of a transaction that must begin again, because another one was faster. */
export class TransactionRestart extends Error {}

/**
 * Runs a transaction. It runs again after a TransactionRestart, and if Postgres ended it for a deadlock: a run that
 * withdraws games locks in another order.
 */
export const transact = async <Result>(
  sql: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> => {
  for (let deadlocks = 0; ; ) {
    try {
      return await sql.begin(work);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (error instanceof TransactionRestart) continue;
      deadlocks += 1;
      if (!isPostgresError(error, DEADLOCK_DETECTED) || deadlocks === DEADLOCK_ATTEMPTS) throw error;
    }
  }
};
