import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/**
 * Advisory locks of the database, by purpose. An advisory lock blocks no table; the numbers are arbitrary. SQL functions
 * repeat some of them, and a test compares.
 */
export const LOCKS = {
  /** One process migrates; the others wait. */
  migration: 7_205_311_846,
  /** One worker reconciles; the others skip the pass. */
  reconcile: 7_205_311_847,
  /** One transaction writes `game_counts`. */
  gameCounts: 7_205_311_848,
  /** One transaction assigns positions to events, so that positions appear in their order. */
  eventPositions: 7_205_311_849,
  /** One transaction assigns positions to events of the platform's stream. */
  streamPositions: 7_205_311_851,
  /** One worker adds the jobs that events and refreshes need; the others skip the turn. */
  urgentJobs: 7_205_311_850,
} as const;

/** Takes a lock until the transaction ends. @returns false if another session has it */
export const tryLock = (tx: Queryable, lock: keyof typeof LOCKS): Promise<boolean> =>
  onlyValue(tx<{ locked: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS[lock]}) as locked`);
