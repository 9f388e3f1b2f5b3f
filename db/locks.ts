import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** Advisory locks of the database, by purpose. An advisory lock blocks no table; the numbers are arbitrary. */
export const LOCKS = {
  /** One process migrates; the others wait. */
  migration: 7_205_311_846,
  /** One worker reconciles; the others skip the pass. */
  reconcile: 7_205_311_847,
  /** One transaction writes `game_counts`. SQL functions repeat the number; a test compares. */
  gameCounts: 7_205_311_848,
  /** One transaction assigns positions to events, so that positions appear in their order. */
  eventPositions: 7_205_311_849,
  /** The same for the platform's stream. */
  streamPositions: 7_205_311_851,
  /** One worker adds the jobs that events and refreshes need; the others skip the turn. */
  urgentJobs: 7_205_311_850,
} as const;

/** Takes a lock until the transaction ends. @returns false if another session has it */
export const tryLock = (tx: Queryable, lock: keyof typeof LOCKS): Promise<boolean> =>
  onlyValue(tx<{ locked: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS[lock]}) as locked`);
