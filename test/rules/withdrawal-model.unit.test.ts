import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RunOutcome } from '#src/contract/words.ts';
import { listingEnd } from '#src/rules/listing.ts';
import { type FinishedListing, isComplete, judgeRun, planUnlisted } from '#src/rules/outcome.ts';
import { anApplication, type ListEvent, listEvent } from '#test/support/moving-list.ts';

type RunPlan = { events: ListEvent[]; failingDetails: number; acceptsSuspect: boolean };

const PAGE = 5;
const CAP = 40;

type Stored = { isWithdrawn: boolean; isMarked: boolean; missedBy: number; goneFor: number };

/** The store, as the steps of a run keep it in Postgres. */
const simulate = (size: number, plans: readonly RunPlan[]): void => {
  const application = anApplication(size);
  const store = new Map<string, Stored>();
  let established = new Set<string>();

  const listPages = ({ events }: RunPlan) => {
    const named = new Set<string>();
    let [rowsBefore, largestPageBefore, total, emptyPages, emptySince] = [0, 0, 0, 0, 0];
    let previous: { rows: number; newlyNamed: number } | null = null;
    const liveThroughout = new Set(application.live);
    for (let page_num = 1; ; page_num += 1) {
      const now = events.filter((event) => event.page === page_num);
      for (const event of now) application.apply(event);
      for (const id of liveThroughout) if (!application.live.includes(id)) liveThroughout.delete(id);
      const isRepeated = now.some(({ what }) => what === 'repeat');
      const hasEnded = events.some(({ what, page }) => what === 'end early' && page <= page_num);
      const at = (isRepeated ? Math.max(1, page_num - 1) : page_num) - 1;
      const rows = hasEnded ? [] : application.live.slice(at * PAGE, (at + 1) * PAGE);
      const fresh = rows.filter((id) => !named.has(id));
      const facts = { page_num, rows: rows.length, rowsBefore, named: rows.length, newlyNamed: fresh.length };
      const pageTotal = application.live.length;
      const end = listingEnd({
        ...facts,
        total: pageTotal,
        pageSize: 100,
        largestPageBefore,
        previous,
        pageCap: CAP,
      });
      for (const id of fresh) {
        named.add(id);
        store.set(id, { isWithdrawn: false, isMarked: false, missedBy: 0, goneFor: 0 });
      }
      if (rows.length > 0) {
        total = pageTotal;
        emptyPages += emptySince;
        emptySince = 0;
      } else {
        emptySince += 1;
        if (named.size === 0) total = pageTotal;
      }
      if (end !== null)
        return { end, named, rowCount: rowsBefore + rows.length, total, emptyPages, liveThroughout };
      rowsBefore += rows.length;
      largestPageBefore = Math.max(largestPageBefore, rows.length);
      previous = { rows: rows.length, newlyNamed: fresh.length };
    }
  };

  const runOnce = (plan: RunPlan, acceptWithdrawals: boolean): RunOutcome => {
    const known = [...store].filter(([, game]) => !game.isWithdrawn).map(([id]) => id);
    const goneBefore = known.filter((id) => !application.live.includes(id));
    const { end, named, rowCount, total, emptyPages, liveThroughout } = listPages(plan);
    const unlisted = known.filter((id) => !named.has(id));
    const listing: FinishedListing = {
      ...{
        end,
        listed: named.size,
        unnamed: 0,
        invalid: 0,
        failed: 0,
        missing: 0,
        emptyPages,
        unread: [],
        total,
      },
      repeats: rowCount - named.size,
      established: [...established].filter((id) => store.get(id)?.isWithdrawn === false).length,
      lost: unlisted.filter((id) => established.has(id)).length,
      present: known.length,
      unlisted: unlisted.length,
      acceptWithdrawals,
    };
    const complete = isComplete(listing);
    const unlistedPlan = planUnlisted(listing);
    const verified = { kept: 0, unconfirmed: 0 };
    for (const id of unlisted) {
      const game = store.get(id) as Stored;
      if (complete) game.missedBy += 1;
      if (unlistedPlan === 'withdraw') game.isWithdrawn = true;
      if (unlistedPlan !== 'verify') continue;
      const fails = plan.failingDetails > 0 && id.length % plan.failingDetails === 0;
      if (!(complete && game.isMarked) && !fails && !application.live.includes(id)) game.isWithdrawn = true;
      else if (complete && game.isMarked) {
        game.isWithdrawn = true;
        verified.unconfirmed += 1;
        // No live game is withdrawn that null did not confirm and only one complete listing missed.
        expect(game.missedBy).toBeGreaterThanOrEqual(2);
      } else if (complete) {
        game.isMarked = true;
        verified.kept += 1;
      }
    }
    const { outcome } = judgeRun(listing, verified);
    if (outcome !== 'suspect')
      established = new Set([...store].filter(([, g]) => !g.isWithdrawn).map(([id]) => id));
    const missed = known.filter((id) => liveThroughout.has(id) && !named.has(id));
    if (missed.length > 0 && !acceptWithdrawals) expect(outcome).not.toBe('succeeded');
    for (const id of goneBefore) {
      const game = store.get(id) as Stored;
      if (!complete || outcome === 'suspect' || named.has(id)) continue;
      game.goneFor += 1;
      // A gone game is withdrawn within two complete listings.
      if (game.goneFor >= 2) expect(game.isWithdrawn).toBe(true);
    }
    return outcome;
  };

  for (const plan of plans) {
    const outcome = runOnce(plan, false);
    if (outcome === 'suspect' && plan.acceptsSuspect) runOnce({ ...plan, events: [] }, true);
  }
};

const plan = fc.record({
  events: fc.array(listEvent, { maxLength: 5 }),
  failingDetails: fc.nat({ max: 4 }),
  acceptsSuspect: fc.boolean(),
});

it('10,000 runs over lists that move, shrink, grow, repeat, end early and come back lose no live game', () => {
  const plans = fc.array(plan, { minLength: 8, maxLength: 8 });
  fc.assert(fc.property(fc.nat({ max: 40 }), plans, simulate), { numRuns: 1_250 });
});
