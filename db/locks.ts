/**
 * The advisory locks of the catalogue's database, each its own number: any number does, as long as every process
 * takes the same. A transaction or a session that holds one keeps no table from anybody.
 */
export const LOCKS = {
  /** Whoever holds it migrates, the others wait. */
  migration: 7_205_311_846,
  /** Whoever holds it reconciles, the others leave it to them. */
  reconcile: 7_205_311_847,
  /** Whoever holds it writes the counters of games; taken in `db/triggers/game-counts.sql`, as a number. */
  gameCounts: 7_205_311_848,
} as const;
