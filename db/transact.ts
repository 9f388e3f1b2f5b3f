import type { Database, Queryable } from '#db/client.ts';
import { DEADLOCK_DETECTED, isPostgresError, PASS_REFUSED } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const ATTEMPTS = 3;

/** Thrown by the work of a transaction that must begin again, because another one was faster. */
export class TransactionRestart extends Error {}

/**
 * Runs a transaction. It runs again after a TransactionRestart, after a deadlock (a run that withdraws games locks in another
 * order), and if a verdict or a hold came between the reading of a game and its pass.
 */
export const transact = async <Result>(
  sql: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> => {
  for (let failures = 0; ; ) {
    try {
      return await sql.begin(work);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (error instanceof TransactionRestart) continue;
      failures += 1;
      const isPassing = [DEADLOCK_DETECTED, PASS_REFUSED].some((code) => isPostgresError(error, code));
      if (!isPassing || failures === ATTEMPTS) throw error;
    }
  }
};
