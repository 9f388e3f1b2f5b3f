import type { Database, Queryable } from '#db/client.ts';
import { DEADLOCK_DETECTED, isPostgresError, PASS_REFUSED } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const ATTEMPTS = 3;

/** Thrown by the work of a transaction that must begin again, because another one changed what it began with. */
export class TransactionRestart extends Error {}

/**
 * Runs a transaction. It runs again after a TransactionRestart, after a deadlock (a run that withdraws games locks in another
 * order), and if a verdict or a hold came between the reading of a game and its pass.
 * @param prepare runs before each attempt, while no connection is occupied
 */
export const transact = async <Result, Prepared = undefined>(
  sql: Database,
  work: (tx: Queryable, prepared: Prepared) => Promise<Result>,
  prepare?: () => Promise<Prepared>,
): Promise<Result> => {
  for (let failures = 0; ; ) {
    const prepared = (await prepare?.()) as Prepared;
    try {
      return await sql.begin((tx) => work(tx, prepared));
    } catch (thrown) {
      const error = coerceError(thrown);
      if (error instanceof TransactionRestart) continue;
      failures += 1;
      const isPassing = [DEADLOCK_DETECTED, PASS_REFUSED].some((code) => isPostgresError(error, code));
      if (!isPassing || failures === ATTEMPTS) throw error;
    }
  }
};
