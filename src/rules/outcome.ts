import type { ListingEnd, RunOutcome } from '#src/contract/words.ts';

/** A run that would withdraw more than this share of an application's games, and more than a few, withdraws none. */
const WITHDRAW_SHARE_MAX = 0.5;
const WITHDRAW_FEW = 10;

export type FinishedListing = {
  end: ListingEnd;
  /** Games that the run named, and rows that named none. */
  listed: number;
  unnamed: number;
  invalid: number;
  failed: number;
  /** Empty pages before a page with rows. */
  emptyPages: number;
  /** Why each unread page could not be read: `page 3: not_utf8`. */
  unread: readonly string[];
  totalFirst: number;
  totalLast: number;
  totalMax: number;
  /** data.total was not the same on all pages with rows. */
  totalChanged: boolean;
  /** Games of the application's last run that came through, and those among them that this run did not name. */
  established: number;
  lost: number;
  /** The same of the games that existed when the run began. Withdrawn games count nowhere. */
  present: number;
  unlisted: number;
  acceptWithdrawals: boolean;
};

export type Verdict = { outcome: RunOutcome; reason: string | null; note: string | null; withdraw: boolean };

const isTooMany = (gone: number, of: number): boolean =>
  gone > WITHDRAW_FEW && gone > of * WITHDRAW_SHARE_MAX;

/** The withdrawals in words if they are too many, of the established games or of all. */
const tooMany = (run: FinishedListing): string | null => {
  if (isTooMany(run.lost, run.established)) return `${run.lost} of ${run.established}`;
  return isTooMany(run.unlisted, run.present) ? `${run.unlisted} of ${run.present}` : null;
};

/** Why the listing does not prove that games which it did not name are gone. */
const doubt = (run: FinishedListing): string | null => {
  if (run.unnamed > 0) return `${run.unnamed} rows named no game`;
  if (run.unread.length > 0) return 'a page could not be read';
  if (run.emptyPages > 0) return 'an empty page stood before others';
  // A game that moves to a page already read while others come or go is not listed.
  const hasMoved = (run.totalChanged || run.totalFirst !== run.totalLast) && run.listed <= run.totalMax;
  return hasMoved ? 'games moved while they were listed' : null;
};

const UNREAD_SHOWN = 3;

/** `page 3 could not be read: not_utf8`, for the first pages. */
const unreadReason = (unread: readonly string[]): string => {
  const shown = unread
    .slice(0, UNREAD_SHOWN)
    .map((reason) => reason.replace(/^page \d+/, (page) => `${page} could not be read`));
  const others = unread.length - shown.length;
  return others > 0 ? `${shown.join('; ')}; and ${others} more` : shown.join('; ');
};

/**
 * The outcome of a finished run, from its counters alone (design, section 4, step 5): a run that dropped anything has
 * not succeeded. An incomplete listing withdraws nothing.
 */
export const runVerdict = (run: FinishedListing): Verdict => {
  if (run.end !== 'complete') {
    const reason =
      run.end === 'repeated'
        ? 'a page named only games that earlier pages had named: does the application read page_num?'
        : 'the listing did not end within the page cap';
    return { outcome: 'suspect', reason, note: null, withdraw: false };
  }
  const notes: string[] = [];
  if (run.totalLast !== run.listed + run.unnamed)
    notes.push(`data.total said ${run.totalLast}, the pages named ${run.listed}`);
  const why = run.unlisted > 0 ? doubt(run) : null;
  if (why !== null) notes.push(`${why}, so none of ${run.unlisted} unlisted games was withdrawn`);
  const note = notes.length > 0 ? notes.join('; ') : null;
  const withdraw = run.unlisted > 0 && why === null;
  const excess = tooMany(run);
  if (withdraw && excess !== null && !run.acceptWithdrawals) {
    const reason = `would withdraw ${excess} games, so withdrew none: look at the application, then accept with sync --accept-withdrawals`;
    return { outcome: 'suspect', reason, note, withdraw: false };
  }
  const reasons = [];
  if (run.unread.length > 0) reasons.push(unreadReason(run.unread));
  if (run.invalid + run.failed > 0) {
    reasons.push(`${run.invalid} invalid, ${run.failed} failed: see failure list`);
  }
  const outcome = reasons.length > 0 ? 'partial' : 'succeeded';
  return { outcome, reason: reasons.join('; ') || null, note, withdraw };
};
