import type { ListingEnd, RunOutcome } from '#src/contract/words.ts';

/** A run that would withdraw more than this share of an application's games, and more than a few, withdraws none. */
const WITHDRAW_SHARE_MAX = 0.5;
const WITHDRAW_FEW = 10;

export type FinishedListing = {
  end: ListingEnd;
  /** Games the run named, and rows that named none. */
  listed: number;
  unnamed: number;
  invalid: number;
  failed: number;
  /** Empty pages with rows on a later one. */
  holes: number;
  totalFirst: number;
  totalLast: number;
  totalMax: number;
  /** data.total was not the same on all pages that held rows. */
  totalChanged: boolean;
  /** Games, not withdrawn, that the application had when its last run came through; those that no page named. */
  established: number;
  lost: number;
  /** The same of all games, not withdrawn, that were there when the run began. */
  present: number;
  unlisted: number;
  acceptWithdrawals: boolean;
};

export type Verdict = { outcome: RunOutcome; reason: string | null; note: string | null; withdraw: boolean };

/** A listing during which games came or went may have missed one that moved to a page already read. */
const moved = (run: FinishedListing): boolean =>
  (run.totalChanged || run.totalFirst !== run.totalLast) && run.listed <= run.totalMax;

const isTooMany = (gone: number, of: number): boolean =>
  gone > WITHDRAW_FEW && gone > of * WITHDRAW_SHARE_MAX;

/** Of the games that an operator has come to rely on, or of all: what is too many to withdraw. */
const tooMany = (run: FinishedListing): string | null => {
  if (isTooMany(run.lost, run.established)) return `${run.lost} of ${run.established}`;
  return isTooMany(run.unlisted, run.present) ? `${run.unlisted} of ${run.present}` : null;
};

const withdrawalVerdict = (run: FinishedListing): { withdraw: boolean; why: string | null } => {
  if (run.unlisted === 0) return { withdraw: false, why: null };
  if (run.unnamed > 0) {
    return {
      withdraw: false,
      why: `${run.unnamed} rows named no game, so none of ${run.unlisted} unlisted games was withdrawn`,
    };
  }
  if (run.holes > 0) {
    return {
      withdraw: false,
      why: `an empty page stood before others, so none of ${run.unlisted} unlisted games was withdrawn`,
    };
  }
  if (moved(run)) {
    return {
      withdraw: false,
      why: `games moved while they were listed, so none of ${run.unlisted} unlisted games was withdrawn`,
    };
  }
  return { withdraw: true, why: null };
};

/**
 * What a finished run was, from its counters alone (design, section 4, step 5): never green with silent
 * drops. An incomplete listing withdraws nothing.
 */
export const runVerdict = (run: FinishedListing): Verdict => {
  const notes: string[] = [];
  if (run.end !== 'complete') {
    const reason =
      run.end === 'repeated'
        ? 'a page named only games that earlier pages had named: does the application read page_num?'
        : 'the listing did not end within the page cap';
    return { outcome: 'suspect', reason, note: null, withdraw: false };
  }
  if (run.totalLast !== run.listed + run.unnamed) {
    notes.push(`data.total said ${run.totalLast}, the pages named ${run.listed}`);
  }
  const { withdraw, why } = withdrawalVerdict(run);
  if (why !== null) notes.push(why);
  const note = notes.length > 0 ? notes.join('; ') : null;
  const excess = tooMany(run);
  if (withdraw && excess !== null && !run.acceptWithdrawals) {
    const reason = `would withdraw ${excess} games, so withdrew none: look at the application, then accept with sync --accept-withdrawals`;
    return { outcome: 'suspect', reason, note, withdraw: false };
  }
  if (run.invalid + run.failed > 0) {
    return {
      outcome: 'partial',
      reason: `${run.invalid} invalid, ${run.failed} failed: see failure list`,
      note,
      withdraw,
    };
  }
  return { outcome: 'succeeded', reason: null, note, withdraw };
};
