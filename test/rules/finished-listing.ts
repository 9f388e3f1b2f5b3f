import type { FinishedListing, VerifiedGames } from '#src/rules/outcome.ts';

/** A run over 100 games that all are as they were. */
export const run = (changes: Partial<FinishedListing> = {}): FinishedListing => ({
  end: 'complete',
  listed: 100,
  unnamed: 0,
  emptyPages: 0,
  unread: [],
  invalid: 0,
  failed: 0,
  missing: 0,
  repeats: 0,
  total: 100,
  established: 100,
  lost: 0,
  present: 100,
  unlisted: 0,
  acceptWithdrawals: false,
  ...changes,
});

/** `count` games of 100 are not listed any more. */
export const without = (count: number, changes: Partial<FinishedListing> = {}) =>
  run({ listed: 100 - count, total: 100 - count, lost: count, unlisted: count, ...changes });

export const NONE: VerifiedGames = { kept: 0, unconfirmed: 0 };
