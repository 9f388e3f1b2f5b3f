import { ACCEPT_ADVICE, FAILURE_ADVICE, type ListingEnd, type RunOutcome } from '#src/contract/words.ts';

/** A run withdraws no game if it would withdraw more than this share and more than a few, or all of them. */
const WITHDRAW_SHARE_MAX = 0.5;
const WITHDRAW_FEW = 10;

export type FinishedListing = {
  end: ListingEnd;
  /** Games that the run named, and rows that named none. */
  listed: number;
  unnamed: number;
  invalid: number;
  failed: number;
  /** Games that the run named and whose detail is null. */
  missing: number;
  /** Empty pages before a page with rows. */
  emptyPages: number;
  /** Why each unread page could not be read: `page 3: not_utf8`. */
  unread: readonly string[];
  /** Rows that name a game which another row names. 0 if `data.total` changed, because the games moved and `total` counts others. */
  repeats: number;
  /** data.total of the last page with rows. */
  total: number;
  /** Games that existed when a run last succeeded, and those among them that this run did not name. */
  established: number;
  lost: number;
  /** The same of the games that existed when the run began. Withdrawn games count nowhere. */
  present: number;
  unlisted: number;
  acceptWithdrawals: boolean;
};

export type RunEnd = { outcome: RunOutcome; reason: string | null; note: string | null };

const isTooMany = (gone: number, of: number): boolean =>
  gone > 0 && (gone >= of || (gone > WITHDRAW_FEW && gone > of * WITHDRAW_SHARE_MAX));

/** The withdrawals in words if they are too many, of the established games or of all. */
const findExcess = (run: FinishedListing): string | null => {
  if (isTooMany(run.lost, run.established)) return `${run.lost} of ${run.established}`;
  return isTooMany(run.unlisted, run.present) ? `${run.unlisted} of ${run.present}` : null;
};

const rowsWithoutGame = (rows: number): string => `${rows === 1 ? '1 row' : `${rows} rows`} named no game`;

/** Why a listing is suspect that its application did not end. */
const endReason = ({ end, unnamed }: FinishedListing): string => {
  if (end !== 'repeated') return 'the listing did not end within the budget of pages and ids of one run';
  if (unnamed > 0) return `a page named no new game, and ${rowsWithoutGame(unnamed)}${FAILURE_ADVICE}`;
  return 'a page named only games that earlier pages had named: does the application read page_num?';
};

/** Explains why an ended listing does not show which games are gone; null if it does. */
const doubt = (run: FinishedListing): string | null => {
  if (run.unread.length > 0) return 'a page could not be read';
  if (run.unnamed > 0) return rowsWithoutGame(run.unnamed);
  return run.emptyPages > 0 ? 'a page before the last was empty' : null;
};

/** Games that the listing counts and does not name. */
const countShortfall = (run: FinishedListing): number => Math.max(0, run.total - run.listed - run.unnamed);

/** Did the listing name every game that it counts? Only such a listing marks the games that it does not name. */
export const isComplete = (run: FinishedListing): boolean =>
  run.end === 'complete' && doubt(run) === null && countShortfall(run) === 0;

/**
 * Decides about the games that a listing did not name. `verify` fetches the detail of each; `withdraw` withdraws them at
 * once, because an operator has accepted it.
 */
export const planUnlisted = (run: FinishedListing): 'keep' | 'verify' | 'withdraw' => {
  if (run.end !== 'complete' || run.unlisted === 0 || doubt(run) !== null) return 'keep';
  if (run.acceptWithdrawals) return isComplete(run) ? 'withdraw' : 'verify';
  return findExcess(run) === null ? 'verify' : 'keep';
};

const UNREAD_SHOWN = 3;

/** `page 3 could not be read: not_utf8`, for the first pages. */
const unreadReason = (unread: readonly string[]): string => {
  const shown = unread.slice(0, UNREAD_SHOWN).map((reason) => reason.replace(': ', ' could not be read: '));
  const others = unread.length - shown.length;
  return others > 0 ? `${shown.join('; ')}; and ${others} more` : shown.join('; ');
};

/** Unlisted games after their verification: still there; withdrawn because two complete listings did not name them. */
export type VerifiedGames = { kept: number; unconfirmed: number };

const count = (games: number): string => (games === 1 ? '1 game' : `${games} games`);

/**
 * Does the application count rows that name a game again? Such rows also come of games that move while they are listed,
 * and other games are then missed. So no stored game may be unlisted.
 */
const countsRepeats = (run: FinishedListing): boolean =>
  run.repeats >= countShortfall(run) && run.unlisted === 0;

const explainRepeats = ({ repeats }: FinishedListing): string[] =>
  repeats > 0 ? [`${repeats === 1 ? '1 row names' : `${repeats} rows name`} a game again`] : [];

/** Everything that the run missed. */
const partialReasons = (run: FinishedListing, { kept, unconfirmed }: VerifiedGames): string[] => {
  const reasons: string[] = [];
  const shortfall = countShortfall(run);
  if (run.unread.length > 0) reasons.push(unreadReason(run.unread));
  if (run.emptyPages > 0) reasons.push('a page before the last was empty');
  if (shortfall > 0 && run.unread.length === 0 && !countsRepeats(run))
    reasons.push(
      `the listing names ${run.listed} of ${count(run.total)}, ${shortfall} are missing`,
      ...explainRepeats(run),
    );
  if (kept > 0) {
    const exist = kept === 1 ? 'exists' : 'exist';
    reasons.push(`${count(kept)} that the listing does not name still ${exist} or could not be checked`);
  }
  if (unconfirmed > 0) reasons.push(`withdrew ${count(unconfirmed)} that two listings in a row did not name`);
  if (run.invalid + run.failed > 0)
    reasons.push(`${run.invalid} invalid, ${run.failed} failed${FAILURE_ADVICE}`);
  if (run.missing > 0)
    reasons.push(
      `the list names ${count(run.missing)} whose detail is null${run.invalid + run.failed > 0 ? '' : FAILURE_ADVICE}`,
    );
  return reasons;
};

/** The outcome of a finished run: a run that missed anything has not succeeded. */
export const judgeRun = (run: FinishedListing, verified: VerifiedGames): RunEnd => {
  if (run.end !== 'complete') return { outcome: 'suspect', reason: endReason(run), note: null };
  const why = run.unlisted > 0 ? doubt(run) : null;
  const notes: string[] = [];
  if (run.total !== run.listed + run.unnamed)
    notes.push(`data.total said ${run.total}, the pages named ${run.listed}`, ...explainRepeats(run));
  if (why !== null) notes.push(`${why}, so no unlisted game was withdrawn (${run.unlisted})`);
  const note = notes.join('; ') || null;
  const excess = findExcess(run);
  if (excess !== null && why === null && !run.acceptWithdrawals) {
    const reason = `would withdraw ${excess} games, so withdrew none${ACCEPT_ADVICE}`;
    return { outcome: 'suspect', reason, note };
  }
  const reasons = partialReasons(run, verified);
  return { outcome: reasons.length > 0 ? 'partial' : 'succeeded', reason: reasons.join('; ') || null, note };
};
