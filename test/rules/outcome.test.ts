import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FinishedListing, runVerdict } from '#src/rules/outcome.ts';

/** A run over 100 games that all are as they were. */
const run = (changes: Partial<FinishedListing> = {}): FinishedListing => ({
  end: 'complete',
  listed: 100,
  unnamed: 0,
  emptyPages: 0,
  unread: [],
  invalid: 0,
  failed: 0,
  totalFirst: 100,
  totalLast: 100,
  totalMax: 100,
  totalChanged: false,
  established: 100,
  lost: 0,
  present: 100,
  unlisted: 0,
  acceptWithdrawals: false,
  ...changes,
});

/** `count` games of 100 are not listed any more. */
const without = (count: number, changes: Partial<FinishedListing> = {}) => {
  const left = 100 - count;
  return run({
    listed: left,
    totalFirst: left,
    totalLast: left,
    totalMax: left,
    lost: count,
    unlisted: count,
    ...changes,
  });
};

describe('The outcome of a run', () => {
  it('is succeeded when everything landed, with nothing to note', () => {
    expect(runVerdict(run())).toEqual({ outcome: 'succeeded', reason: null, note: null, withdraw: false });
  });

  it.for<Partial<FinishedListing>>([{ invalid: 1 }, { failed: 1 }, { invalid: 2, failed: 3 }])(
    'is partial when something was invalid or failed: %o',
    (changes) => {
      const { outcome, reason } = runVerdict(run(changes));
      expect(outcome).toBe('partial');
      expect(reason).toBe(`${changes.invalid ?? 0} invalid, ${changes.failed ?? 0} failed: see failure list`);
    },
  );

  it.for(['repeated', 'page_cap'] as const)(
    'is suspect, and withdraws nothing, when the listing ended %s',
    (end) => {
      expect(runVerdict(without(5, { end }))).toMatchObject({ outcome: 'suspect', withdraw: false });
    },
  );

  it('notes a total that does not agree with the pages, and trusts the pages', () => {
    const verdict = runVerdict(run({ totalFirst: 90, totalLast: 90, totalMax: 90 }));
    expect(verdict).toMatchObject({ outcome: 'succeeded', note: 'data.total said 90, the pages named 100' });
  });

  it('is never green when anything was dropped', () => {
    const listings = fc.record({
      end: fc.constantFrom('complete', 'repeated', 'page_cap'),
      invalid: fc.nat({ max: 3 }),
      failed: fc.nat({ max: 3 }),
      unnamed: fc.nat({ max: 3 }),
      unlisted: fc.nat({ max: 100 }),
      totalLast: fc.nat({ max: 200 }),
      acceptWithdrawals: fc.boolean(),
    });
    fc.assert(
      fc.property(listings, (changes) => {
        const verdict = runVerdict(run(changes as Partial<FinishedListing>));
        if (verdict.outcome === 'succeeded')
          expect(changes).toMatchObject({ end: 'complete', invalid: 0, failed: 0 });
        else expect(verdict.reason).not.toBeNull();
        if (verdict.withdraw) expect(changes).toMatchObject({ end: 'complete', unnamed: 0 });
      }),
    );
  });
});

describe('Withdrawals', () => {
  it('follow a complete listing', () => {
    expect(runVerdict(without(10))).toMatchObject({ outcome: 'succeeded', withdraw: true, note: null });
  });

  it('wait for an operator when they would take more than half', () => {
    expect(runVerdict(without(50))).toMatchObject({ outcome: 'succeeded', withdraw: true });
    const guarded = runVerdict(without(51));
    expect(guarded).toMatchObject({ outcome: 'suspect', withdraw: false });
    expect(guarded.reason).toContain('would withdraw 51 of 100 games');
    expect(runVerdict(without(51, { acceptWithdrawals: true }))).toMatchObject({
      outcome: 'succeeded',
      withdraw: true,
    });
  });

  it('wait for an operator too when the games that would go came since a run last came through', () => {
    const guarded = runVerdict(run({ present: 300, unlisted: 200 }));
    expect(guarded).toMatchObject({ outcome: 'suspect', withdraw: false });
    expect(guarded.reason).toContain('would withdraw 200 of 300 games');
    expect(runVerdict(run({ present: 300, unlisted: 150 }))).toMatchObject({ withdraw: true });
  });

  it('wait for an operator when newer games alone keep them below half of all', () => {
    const guarded = runVerdict(run({ lost: 51, present: 500, unlisted: 51 }));
    expect(guarded).toMatchObject({ outcome: 'suspect', withdraw: false });
    expect(guarded.reason).toContain('would withdraw 51 of 100 games');
  });

  it('need no operator for a few games, even if they are all there are', () => {
    const few = (count: number) =>
      run({
        listed: 0,
        totalFirst: 0,
        totalLast: 0,
        totalMax: 0,
        established: count,
        lost: count,
        present: count,
        unlisted: count,
      });
    expect(runVerdict(few(10))).toMatchObject({ outcome: 'succeeded', withdraw: true });
    expect(runVerdict(few(11))).toMatchObject({ outcome: 'suspect', withdraw: false });
  });

  it('do not happen while rows named no game: one of them may be the game that seems gone', () => {
    const verdict = runVerdict(without(5, { unnamed: 1, invalid: 1 }));
    expect(verdict).toMatchObject({ outcome: 'partial', withdraw: false });
    expect(verdict.note).toContain('1 rows named no game');
  });

  it('do not happen when an empty page stood before others: its games may be there all the same', () => {
    const verdict = runVerdict(without(5, { emptyPages: 1 }));
    expect(verdict).toMatchObject({ outcome: 'succeeded', withdraw: false });
    expect(verdict.note).toContain('an empty page stood before others');
  });

  it.each<[string, Partial<FinishedListing>]>([
    ['fewer at the end', { totalFirst: 100, totalMax: 100 }],
    ['fewer in between', { totalFirst: 95, totalMax: 95, totalChanged: true }],
  ])('do not happen when games moved while they were listed: %s', (_, totals) => {
    const verdict = runVerdict(without(5, totals));
    expect(verdict).toMatchObject({ outcome: 'succeeded', withdraw: false });
    expect(verdict.note).toContain('games moved while they were listed');
  });

  it('do not happen with an operator’s word either when the listing is not complete', () => {
    const verdict = runVerdict(without(60, { end: 'repeated', acceptWithdrawals: true }));
    expect(verdict).toMatchObject({ outcome: 'suspect', withdraw: false });
  });
});
