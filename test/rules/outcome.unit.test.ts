import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutAdvice } from '#src/contract/words.ts';
import {
  type FinishedListing,
  isComplete,
  judgeRun,
  planUnlisted,
  type VerifiedGames,
} from '#src/rules/outcome.ts';
import { NONE, run, without } from '#test/rules/finished-listing.ts';

describe('The outcome of a run', () => {
  it('is succeeded when everything landed, with nothing to note', () => {
    expect(judgeRun(run(), NONE)).toEqual({ outcome: 'succeeded', reason: null, note: null });
  });

  it.for<Partial<FinishedListing>>([{ invalid: 1 }, { failed: 1 }, { invalid: 2, failed: 3 }])(
    'is partial when something was invalid or failed: %o',
    (changes) => {
      const { outcome, reason } = judgeRun(run(changes), NONE);
      expect(outcome).toBe('partial');
      expect(reason).toBe(`${changes.invalid ?? 0} invalid, ${changes.failed ?? 0} failed: see failure list`);
    },
  );

  it.for([
    ['repeated', 'a page named only games that earlier pages had named: does the application read page_num?'],
    ['page_cap', 'the listing did not end within the budget of pages and ids of one run'],
  ] as const)(
    'is suspect, says why, and its unlisted games are kept, when the listing ended %s',
    ([end, reason]) => {
      const listing = without(5, { end });
      expect(judgeRun(listing, NONE)).toEqual({ outcome: 'suspect', reason, note: null });
      expect(planUnlisted(listing)).toBe('keep');
    },
  );

  it('is suspect, and names the rows without a usable id, when these ended the listing', () => {
    const { outcome, reason } = judgeRun(run({ end: 'repeated', unnamed: 200, invalid: 200 }), NONE);
    expect(outcome).toBe('suspect');
    expect(reason).toBe('a page named no new game, and 200 rows named no game: see failure list');
  });

  it('is succeeded when an application without games lists none', () => {
    const empty = run({ listed: 0, total: 0, established: 0, present: 0 });
    expect(judgeRun(empty, NONE)).toEqual({ outcome: 'succeeded', reason: null, note: null });
    expect(planUnlisted(empty)).toBe('keep');
  });

  it('notes a total that is too low, and trusts the pages', () => {
    expect(judgeRun(run({ total: 90 }), NONE)).toEqual({
      outcome: 'succeeded',
      reason: null,
      note: 'data.total said 90, the pages named 100',
    });
  });

  it('is partial when the listing names fewer games than its total, and says how many are missing', () => {
    const listing = run({ listed: 300, total: 500, present: 500, established: 500 });
    expect(judgeRun(listing, NONE)).toEqual({
      outcome: 'partial',
      reason: 'the listing names 300 of 500 games, 200 are missing',
      note: 'data.total said 500, the pages named 300',
    });
  });

  it('is succeeded when rows that name a game again explain the total, unless a stored game is unlisted', () => {
    const listing = run({ listed: 99, total: 101, repeats: 2 });
    expect(judgeRun(listing, NONE)).toEqual({
      outcome: 'succeeded',
      reason: null,
      note: 'data.total said 101, the pages named 99; 2 rows name a game again',
    });
    expect(isComplete(listing)).toBe(false);
    for (const changes of [{ repeats: 1 }, { unlisted: 1 }])
      expect(judgeRun({ ...listing, ...changes }, NONE).outcome).toBe('partial');
  });

  it('is partial when a listed game has no detail, and says so', () => {
    expect(judgeRun(run({ missing: 2 }), NONE)).toMatchObject({
      outcome: 'partial',
      reason: 'the list names 2 games whose detail is null: see failure list',
    });
    expect(judgeRun(run({ missing: 1, invalid: 1 }), NONE).reason).toBe(
      '1 invalid, 0 failed: see failure list; the list names 1 game whose detail is null',
    );
  });

  it('names the command for failures to operators alone', () => {
    const { reason } = judgeRun(run({ missing: 1, invalid: 1 }), NONE);
    expect(withoutAdvice(reason ?? '')).toBe(
      '1 invalid, 0 failed; the list names 1 game whose detail is null',
    );
  });

  it('is partial when an unlisted game still exists, and when one is withdrawn without confirmation', () => {
    const judge = (verified: VerifiedGames) => judgeRun(without(3), verified);
    expect(judge({ kept: 1, unconfirmed: 0 })).toMatchObject({
      outcome: 'partial',
      reason: '1 game that the listing does not name still exists or could not be checked',
    });
    expect(judge({ kept: 2, unconfirmed: 1 })).toMatchObject({
      outcome: 'partial',
      reason:
        '2 games that the listing does not name still exist or could not be checked; withdrew 1 game that two listings in a row did not name',
    });
  });

  it('is partial when a page could not be read, and names the first three', () => {
    const unread = (pages: number) =>
      judgeRun(
        run({ unread: [2, 4, 6, 8, 10].slice(0, pages).map((page) => `page ${page}: not_json`) }),
        NONE,
      );
    expect(unread(1)).toMatchObject({ outcome: 'partial', reason: 'page 2 could not be read: not_json' });
    expect(unread(3).reason).toBe(
      'page 2 could not be read: not_json; page 4 could not be read: not_json; page 6 could not be read: not_json',
    );
    expect(unread(5).reason).toMatch(
      /^page 2 .*; page 4 .*; page 6 could not be read: not_json; and 2 more$/,
    );
  });

  it('counts no game as missing when it may be on a page that could not be read', () => {
    const listing = run({ listed: 90, total: 100, unread: ['page 12: not_json: in the text'] });
    expect(judgeRun(listing, NONE).reason).toBe('page 12 could not be read: not_json: in the text');
  });

  it('is partial when a page before the last was empty, and notes nothing if no game is unlisted', () => {
    expect(judgeRun(run({ emptyPages: 1 }), NONE)).toEqual({
      outcome: 'partial',
      reason: 'a page before the last was empty',
      note: null,
    });
  });

  it('counts a row that names no game for the total', () => {
    expect(judgeRun(run({ listed: 99, unnamed: 1, invalid: 1 }), NONE)).toEqual({
      outcome: 'partial',
      reason: '1 invalid, 0 failed: see failure list',
      note: null,
    });
  });

  it('is succeeded only when nothing was missed', () => {
    const listings = fc.record({
      end: fc.constantFrom('complete', 'repeated', 'page_cap'),
      invalid: fc.nat({ max: 2 }),
      failed: fc.nat({ max: 2 }),
      unnamed: fc.nat({ max: 2 }),
      repeats: fc.nat({ max: 100 }),
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
        const { outcome, reason } = judgeRun(listing, games);
        if (outcome === 'succeeded') {
          expect(changes).toMatchObject({
            end: 'complete',
            invalid: 0,
            failed: 0,
            emptyPages: 0,
            unread: [],
          });
          expect(games).toEqual(NONE);
          expect(listing.listed + listing.unnamed + listing.repeats).toBeGreaterThanOrEqual(listing.total);
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

it.for<[complete: boolean, what: string, changes: Partial<FinishedListing>]>([
  [true, 'names all games', {}],
  [true, 'names more games than its total', { total: 99 }],
  [false, 'names fewer games than its total', { total: 101 }],
  [false, 'repeats itself', { end: 'repeated' }],
  [false, 'does not end', { end: 'page_cap' }],
  [false, 'has an unread page', { unread: ['page 2: not_json'] }],
  [false, 'has a row that names no game', { listed: 99, unnamed: 1 }],
  [false, 'has an empty page before the last', { emptyPages: 1 }],
])('isComplete is %s for a listing that %s', ([complete, , changes]) => {
  expect(isComplete(run(changes))).toBe(complete);
});
