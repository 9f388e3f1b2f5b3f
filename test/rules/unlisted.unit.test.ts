import { describe, expect, it } from 'vitest';
import { isComplete, judgeRun, planUnlisted } from '#src/rules/outcome.ts';
import { NONE, run, without } from '#test/rules/finished-listing.ts';

describe('Unlisted games', () => {
  it('are kept when there are none', () => {
    expect(planUnlisted(run())).toBe('keep');
  });

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
    expect(judgeRun(without(50), NONE)).toMatchObject({ outcome: 'succeeded' });
    expect(planUnlisted(without(51))).toBe('keep');
    const guarded = judgeRun(without(51), NONE);
    expect(guarded.outcome).toBe('suspect');
    expect(guarded.reason).toContain('would withdraw 51 of 100 games');
    const accepted = without(51, { acceptWithdrawals: true });
    expect(planUnlisted(accepted)).toBe('withdraw');
    expect(judgeRun(accepted, NONE)).toMatchObject({ outcome: 'succeeded' });
  });

  it('are kept when they are more than half of all, though they came after the last run that came through', () => {
    const guarded = run({ present: 300, unlisted: 200 });
    expect(planUnlisted(guarded)).toBe('keep');
    expect(judgeRun(guarded, NONE).reason).toContain('would withdraw 200 of 300 games');
    expect(planUnlisted(run({ present: 300, unlisted: 150 }))).toBe('verify');
  });

  it('are kept when only newer games keep them below half of all', () => {
    const guarded = run({ lost: 51, present: 500, unlisted: 51 });
    expect(planUnlisted(guarded)).toBe('keep');
    expect(judgeRun(guarded, NONE)).toMatchObject({ outcome: 'suspect' });
    expect(judgeRun(guarded, NONE).reason).toContain('would withdraw 51 of 100 games');
  });

  it('are verified when they are few, and kept when they are all games of however small an application', () => {
    const small = (gone: number, of: number) =>
      run({ listed: of - gone, total: of - gone, established: of, lost: gone, present: of, unlisted: gone });
    for (const of of [1, 2, 10, 11]) {
      expect(planUnlisted(small(of, of))).toBe('keep');
      expect(judgeRun(small(of, of), NONE).reason).toContain(`would withdraw ${of} of ${of} games`);
    }
    expect(planUnlisted(small(10, 11))).toBe('verify');
    expect(planUnlisted(small(11, 12))).toBe('keep');
  });

  it('are kept while rows named no game: one of them may be the game that seems gone', () => {
    const listing = without(5, { unnamed: 1, invalid: 1 });
    expect(planUnlisted(listing)).toBe('keep');
    const { outcome, note } = judgeRun(listing, NONE);
    expect(outcome).toBe('partial');
    expect(note).toContain('1 row named no game, so no unlisted game was withdrawn (');
  });

  it('are kept when a page before the last was empty', () => {
    const listing = without(5, { emptyPages: 1 });
    expect(planUnlisted(listing)).toBe('keep');
    const { outcome, note } = judgeRun(listing, NONE);
    expect(outcome).toBe('partial');
    expect(note).toContain('a page before the last was empty');
  });

  it('are kept when a page could not be read', () => {
    const listing = without(5, { unread: ['page 2: not_json'], total: 100 });
    expect(planUnlisted(listing)).toBe('keep');
    expect(judgeRun(listing, NONE).note).toBe(
      'data.total said 100, the pages named 95; a page could not be read, so no unlisted game was withdrawn (5)',
    );
  });

  it('are kept without a guard when they may be on a page that could not be read', () => {
    const listing = without(60, { unread: ['page 2: not_json'] });
    expect(planUnlisted(listing)).toBe('keep');
    expect(judgeRun(listing, NONE)).toMatchObject({
      outcome: 'partial',
      reason: 'page 2 could not be read: not_json',
    });
  });

  it('are kept when the listing is not complete, even if an operator accepts withdrawals', () => {
    const listing = without(60, { end: 'repeated', acceptWithdrawals: true });
    expect(planUnlisted(listing)).toBe('keep');
    expect(judgeRun(listing, NONE)).toMatchObject({ outcome: 'suspect' });
  });
});
