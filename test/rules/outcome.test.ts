import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FinishedListing,
  isComplete,
  planUnlisted,
  runVerdict,
  type VerifiedGames,
} from '#src/rules/outcome.ts';

/** A run over 100 games that all are as they were. */
const run = (changes: Partial<FinishedListing> = {}): FinishedListing => ({
  end: 'complete',
  listed: 100,
  unnamed: 0,
  emptyPages: 0,
  unread: [],
  invalid: 0,
  failed: 0,
  total: 100,
  established: 100,
  lost: 0,
  present: 100,
  unlisted: 0,
  acceptWithdrawals: false,
  ...changes,
});

/** `count` games of 100 are not listed any more. */
const without = (count: number, changes: Partial<FinishedListing> = {}) =>
  run({ listed: 100 - count, total: 100 - count, lost: count, unlisted: count, ...changes });

const NONE: VerifiedGames = { kept: 0, unconfirmed: 0 };

describe('The outcome of a run', () => {
  it('is succeeded when everything landed, with nothing to note', () => {
    expect(runVerdict(run(), NONE)).toEqual({ outcome: 'succeeded', reason: null, note: null });
  });

  it.for<Partial<FinishedListing>>([{ invalid: 1 }, { failed: 1 }, { invalid: 2, failed: 3 }])(
    'is partial when something was invalid or failed: %o',
    (changes) => {
      const { outcome, reason } = runVerdict(run(changes), NONE);
      expect(outcome).toBe('partial');
      expect(reason).toBe(`${changes.invalid ?? 0} invalid, ${changes.failed ?? 0} failed: see failure list`);
    },
  );

  it.for(['repeated', 'page_cap'] as const)(
    'is suspect, and its unlisted games are kept, when the listing ended %s',
    (end) => {
      const listing = without(5, { end });
      expect(runVerdict(listing, NONE)).toMatchObject({ outcome: 'suspect' });
      expect(planUnlisted(listing)).toBe('keep');
    },
  );

  it('notes a total that is too low, and trusts the pages', () => {
    expect(runVerdict(run({ total: 90 }), NONE)).toEqual({
      outcome: 'succeeded',
      reason: null,
      note: 'data.total said 90, the pages named 100',
    });
  });

  it('is partial when the listing names fewer games than its total, and says how many are missing', () => {
    const listing = run({ listed: 300, total: 500, present: 500, established: 500 });
    expect(runVerdict(listing, NONE)).toEqual({
      outcome: 'partial',
      reason: 'the listing names 300 of 500 games, 200 are missing',
      note: 'data.total said 500, the pages named 300',
    });
  });

  it('is partial when an unlisted game still answers, and when one is withdrawn without confirmation', () => {
    const verdict = (verified: VerifiedGames) => runVerdict(without(3), verified);
    expect(verdict({ kept: 1, unconfirmed: 0 })).toMatchObject({
      outcome: 'partial',
      reason: '1 game that the listing does not name still answers or could not be checked',
    });
    expect(verdict({ kept: 2, unconfirmed: 1 })).toMatchObject({
      outcome: 'partial',
      reason:
        '2 games that the listing does not name still answer or could not be checked; withdrew 1 game that two listings in a row did not name',
    });
  });

  it('is partial when a page could not be read, and names the first three', () => {
    const unread = (pages: number) =>
      runVerdict(
        run({ unread: [2, 4, 6, 8, 10].slice(0, pages).map((page) => `page ${page}: not_json`) }),
        NONE,
      );
    expect(unread(1)).toMatchObject({ outcome: 'partial', reason: 'page 2 could not be read: not_json' });
    expect(unread(5).reason).toMatch(
      /^page 2 .*; page 4 .*; page 6 could not be read: not_json; and 2 more$/,
    );
  });

  it('is succeeded only when nothing was missed', () => {
    const listings = fc.record({
      end: fc.constantFrom('complete', 'repeated', 'page_cap'),
      invalid: fc.nat({ max: 2 }),
      failed: fc.nat({ max: 2 }),
      unnamed: fc.nat({ max: 2 }),
      emptyPages: fc.nat({ max: 1 }),
      unread: fc.constantFrom([], ['page 2: not_json']),
      unlisted: fc.nat({ max: 100 }),
      total: fc.nat({ max: 200 }),
      acceptWithdrawals: fc.boolean(),
    });
    const verified = fc.record({ kept: fc.nat({ max: 1 }), unconfirmed: fc.nat({ max: 1 }) });
    fc.assert(
      fc.property(listings, verified, (changes, games) => {
        const listing = run(changes as Partial<FinishedListing>);
        const { outcome, reason } = runVerdict(listing, games);
        if (outcome === 'succeeded') {
          expect(changes).toMatchObject({
            end: 'complete',
            invalid: 0,
            failed: 0,
            emptyPages: 0,
            unread: [],
          });
          expect(games).toEqual(NONE);
          expect(listing.listed + listing.unnamed).toBeGreaterThanOrEqual(listing.total);
        } else expect(reason).not.toBeNull();
        const plan = planUnlisted(listing);
        if (plan !== 'keep')
          expect(changes).toMatchObject({ end: 'complete', unnamed: 0, emptyPages: 0, unread: [] });
        if (plan === 'withdraw')
          expect([isComplete(listing), changes.acceptWithdrawals]).toEqual([true, true]);
      }),
    );
  });
});

describe('Unlisted games', () => {
  it('are verified after a complete listing', () => {
    expect(planUnlisted(without(10))).toBe('verify');
    expect(isComplete(without(10))).toBe(true);
  });

  it('are verified too when the listing names fewer games than its total, but not marked', () => {
    const listing = without(10, { total: 100 });
    expect(planUnlisted(listing)).toBe('verify');
    expect(isComplete(listing)).toBe(false);
    expect(planUnlisted({ ...listing, acceptWithdrawals: true })).toBe('verify');
  });

  it('are kept when they are more than half, until an operator accepts that they are withdrawn', () => {
    expect(planUnlisted(without(50))).toBe('verify');
    expect(runVerdict(without(50), NONE)).toMatchObject({ outcome: 'succeeded' });
    expect(planUnlisted(without(51))).toBe('keep');
    const guarded = runVerdict(without(51), NONE);
    expect(guarded.outcome).toBe('suspect');
    expect(guarded.reason).toContain('would withdraw 51 of 100 games');
    const accepted = without(51, { acceptWithdrawals: true });
    expect(planUnlisted(accepted)).toBe('withdraw');
    expect(runVerdict(accepted, NONE)).toMatchObject({ outcome: 'succeeded' });
  });

  it('are kept when they are more than half of all, though they came after the last run that came through', () => {
    const guarded = run({ present: 300, unlisted: 200 });
    expect(planUnlisted(guarded)).toBe('keep');
    expect(runVerdict(guarded, NONE).reason).toContain('would withdraw 200 of 300 games');
    expect(planUnlisted(run({ present: 300, unlisted: 150 }))).toBe('verify');
  });

  it('are kept when only newer games keep them below half of all', () => {
    const guarded = run({ lost: 51, present: 500, unlisted: 51 });
    expect(planUnlisted(guarded)).toBe('keep');
    expect(runVerdict(guarded, NONE)).toMatchObject({ outcome: 'suspect' });
    expect(runVerdict(guarded, NONE).reason).toContain('would withdraw 51 of 100 games');
  });

  it('are verified when they are few, and kept when they are all games of however small an application', () => {
    const small = (gone: number, of: number) =>
      run({ listed: of - gone, total: of - gone, established: of, lost: gone, present: of, unlisted: gone });
    for (const of of [1, 2, 10, 11]) {
      expect(planUnlisted(small(of, of))).toBe('keep');
      expect(runVerdict(small(of, of), NONE).reason).toContain(`would withdraw ${of} of ${of} games`);
    }
    expect(planUnlisted(small(10, 11))).toBe('verify');
    expect(planUnlisted(small(11, 12))).toBe('keep');
  });

  it('are kept while rows named no game: one of them may be the game that seems gone', () => {
    const listing = without(5, { unnamed: 1, invalid: 1 });
    expect(planUnlisted(listing)).toBe('keep');
    const { outcome, note } = runVerdict(listing, NONE);
    expect(outcome).toBe('partial');
    expect(note).toContain('1 rows named no game');
  });

  it('are kept when an empty page stood before others', () => {
    const listing = without(5, { emptyPages: 1 });
    expect(planUnlisted(listing)).toBe('keep');
    const { outcome, note } = runVerdict(listing, NONE);
    expect(outcome).toBe('partial');
    expect(note).toContain('an empty page stood before others');
  });

  it('are kept when a page could not be read', () => {
    expect(planUnlisted(without(5, { unread: ['page 2: not_json'] }))).toBe('keep');
  });

  it('are kept, whatever an operator accepts, when the listing is not complete', () => {
    const listing = without(60, { end: 'repeated', acceptWithdrawals: true });
    expect(planUnlisted(listing)).toBe('keep');
    expect(runVerdict(listing, NONE)).toMatchObject({ outcome: 'suspect' });
  });
});
