import { beforeEach, describe, expect, it } from 'vitest';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { endExpiredVerdicts, findLastVerdict } from '#db/queries/verdicts.ts';
import type { Verdict } from '#src/contract/words.ts';
import { approve } from '#src/operations/requests.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { acme, useGameOfDeveloper } from '#test/operations/game-of-developer.ts';
import { addOperators, answerBy, askBy } from '#test/support/approvals.ts';
import { decideGames, KIM, operateAs, undoGameDecisions } from '#test/support/operate.ts';

const { database, expectRefused, pull, recordId, verdictOn, standing, pass, statusOf, events, gameId } =
  useGameOfDeveloper();

describe('a verdict', () => {
  it('is bound to the version that was seen', async () => {
    const seen = await recordId();
    await pull({ tax_id: 'another' });
    await expect(verdictOn(seen)).rejects.toThrow('has changed since it was shown');
    await verdictOn(await recordId());
    expect(await standing()).toBe('standing');
  });

  it.each([
    ['cp_short_name', 'standing'],
    ['tax_id', 'changed'],
    ['opening_bank', 'changed'],
    ['registered_address', 'changed'],
  ])('is %s after a change: %s', async (field, state) => {
    await verdictOn(await recordId());
    await pull({ [field]: 'another value' });
    expect(await standing()).toBe(state);
  });

  it('ends at its time, and a later one replaces it', async () => {
    await verdictOn(await recordId(), 'verified', { expires: '2d' });
    await database.sql`update kyc_verdicts set expires_at = now()`;
    expect(await standing()).toBe('expired');
    await verdictOn(await recordId(), 'refused');
    const rows = await database.sql`select verdict, ended_as from kyc_verdicts order by verdict_id`;
    expect([...rows]).toEqual([
      { verdict: 'verified', ended_as: 'expired' },
      { verdict: 'refused', ended_as: null },
    ]);
  });

  it('passes no game after its time, also in a transaction that began before it', async () => {
    await setDecisionRules(database.sql, { games_need_verdict: true });
    await verdictOn(await recordId());
    await database.sql`update kyc_verdicts set expires_at = now() + interval '1 second'`;
    const passing = database.as('console').begin(async (tx) => {
      await tx`select pg_sleep(1.1)`;
      await tx`update games set audit_status = 'passed', audit_time = now()`;
    });
    await expect(passing).rejects.toThrow('no standing verdict');
  });

  it('passes no game after its time, also not by statements that a stolen login sent before it', async () => {
    const { sql } = database;
    await setDecisionRules(sql, { games_need_verdict: true });
    await verdictOn(await recordId(), 'verified', { expires: '2d' });
    await sql`update kyc_verdicts set expires_at = clock_timestamp() + interval '1 second'`;
    const late = "select pg_sleep(1.5); update games set audit_status = 'passed', audit_time = now()";
    await expect(database.as('console').unsafe(late)).rejects.toMatchObject({ code: 'GC001' });
  });

  it('takes the terms that the second person approved, and no others', async () => {
    const { sql } = database;
    await addOperators(sql, { kim: ['kyc_officer'], lee: ['kyc_officer'] });
    const record_id = await recordId();
    const give = (verdict: Verdict, more: object) =>
      operateAs(sql, { actor: 'kim', actor_kind: 'operator' }, giveVerdict, {
        ...acme,
        record_id,
        verdict,
        ...more,
      });
    await expect(give('verified', { reason: 'alone' })).rejects.toThrow(
      'It takes two persons to give a verdict',
    );
    const terms = { verdict: 'refused', text: 'The register has no such company.', expires: '90d' } as const;
    const subject = 'application:acme';
    const { approval_id } = await askBy(sql, 'kim', {
      kind: 'verdict',
      subject,
      reason: 'ticket 4711',
      ...terms,
    });
    await answerBy(sql, 'lee', approve, approval_id);
    await expect(give('verified', { approval_id })).rejects.toThrow('Another verdict was approved');
    await expect(give('refused', { approval_id, text: 'Other words.' })).rejects.toThrow('Another verdict');
    expect(await give('refused', { approval_id })).toMatchObject({
      verdict: 'refused',
      text: terms.text,
      reason: 'ticket 4711',
    });
  });

  it('of two that were approved beforehand replaces no other one: the second approval is void', async () => {
    const { sql } = database;
    await addOperators(sql, { kim: ['kyc_officer'], lee: ['kyc_officer'] });
    const record_id = await recordId();
    const terms = { kind: 'verdict', subject: 'application:acme', reason: 'why' } as const;
    const [kims, lees] = [
      await askBy(sql, 'kim', { ...terms, verdict: 'refused' }),
      await askBy(sql, 'lee', { ...terms, verdict: 'verified' }),
    ];
    await answerBy(sql, 'lee', approve, kims.approval_id);
    await answerBy(sql, 'kim', approve, lees.approval_id);
    const give = (by: string, verdict: Verdict, { approval_id }: { approval_id: string }) =>
      operateAs(sql, { actor: by, actor_kind: 'operator' }, giveVerdict, {
        ...acme,
        record_id,
        verdict,
        approval_id,
      });
    expect(await give('kim', 'refused', kims)).toMatchObject({ verdict: 'refused' });
    await expect(give('lee', 'verified', lees)).rejects.toThrow('so the approval is void');
    expect(await findLastVerdict(sql, 'acme')).toMatchObject({ verdict: 'refused', state: 'standing' });
  });

  it('that was approved for another version is void', async () => {
    const { sql } = database;
    await addOperators(sql, { kim: ['kyc_officer'], lee: ['kyc_officer'] });
    const request = {
      kind: 'verdict',
      subject: 'application:acme',
      reason: 'why',
      verdict: 'verified',
    } as const;
    const { approval_id } = await askBy(sql, 'kim', request);
    await pull({ tax_id: 'swapped' });
    await expect(answerBy(sql, 'lee', approve, approval_id)).rejects.toThrow('has changed since');
  });
});

describe('while games need a verdict', () => {
  beforeEach(() => setDecisionRules(database.sql, { games_need_verdict: true }));

  it('a game is passed with a standing verdict "verified" alone', async () => {
    expect(await pass()).toBe('needs_verdict');
    await verdictOn(await recordId(), 'incomplete');
    expect(await pass()).toBe('needs_verdict');
    await verdictOn(await recordId());
    expect(await pass()).toBe('decided');
  });

  it('a live game stays live when the verdict is lost, but an undo, a carried decision or a return makes none live', async () => {
    const { sql } = database;
    await verdictOn(await recordId());
    await pass();
    const reject = { audit_status: 'rejected', reason: 'rights' } as const;
    await decideGames(sql, [{ game_id: gameId(), revision: 1 }], reject, KIM.actor);
    const [rejection] = await sql<
      { audit_id: number }[]
    >`select max(audit_id)::int as audit_id from game_audits`;
    await pull({ tax_id: 'another' });
    await undoGameDecisions(sql, [rejection?.audit_id ?? 0], KIM.actor);
    expect(await statusOf()).toBe('pending');
    await verdictOn(await recordId());
    expect(await pass()).toBe('decided');
    await pull({ tax_id: 'a third' });
    expect(await statusOf()).toBe('passed');
    await sql`update games set withdrawn_at = now()`;
    await sql`update games set withdrawn_at = null`;
    expect(await statusOf()).toBe('pending');
    expect((await events()).at(-1)).toEqual({ type: 'game.pending', why: 'needs_verdict' });
  });

  it('no statement of any process passes a game, not even the owner’s', async () => {
    await expect(database.sql`update games set audit_status = 'passed', audit_time = now()`).rejects.toThrow(
      'has no standing verdict',
    );
    expect(await statusOf()).toBe('pending');
  });
});

it('the stream tells of each verdict, and of its end', async () => {
  const { sql } = database;
  await sql`truncate stream_events`;
  await verdictOn(await recordId());
  await verdictOn(await recordId(), 'refused');
  await pull({ tax_id: 'another' });
  await verdictOn(await recordId(), 'verified', { expires: '2d' });
  await sql`update kyc_verdicts set expires_at = now() where ended_at is null`;
  expect(await endExpiredVerdicts(database.as('worker'))).toBe(1);
  expect(await endExpiredVerdicts(database.as('worker'))).toBe(0);
  const told = await sql<{ facts: Record<string, string> }[]>`
    select facts from stream_events where type = 'kyc.verdict' order by event_number`;
  expect(told.map(({ facts }) => `${facts.verdict} ${facts.verdict_state}`)).toEqual([
    'verified standing',
    'refused standing',
    'refused changed',
    'verified standing',
    'verified expired',
  ]);
});

it('neither the worker nor media nor the API writes a verdict, a hold, or the rule that games need one', async () => {
  await verdictOn(await recordId());
  for (const role of ['worker', 'media', 'api'] as const)
    await expectRefused(role, [
      "update kyc_verdicts set expires_at = now() + interval '9 years'",
      "update kyc_verdicts set verdict = 'verified'",
      "insert into kyc_verdicts (application_id, record_id, verdict, reason, decided_by, expires_at) select application_id, record_id, 'verified', 'x', 'kim', now() + interval '1 year' from kyc_records",
      'delete from kyc_verdicts',
      'delete from application_holds',
      'update decision_rules set games_need_verdict = false',
      'select reason from kyc_verdicts',
    ]);
  for (const role of ['console', 'kyc_desk', 'operator'] as const)
    await expectRefused(role, [
      'delete from kyc_verdicts',
      'update decision_rules set games_need_verdict = false',
    ]);
  await expectRefused('console', ["update kyc_verdicts set ended_at = now(), ended_as = 'expired'"]);
});
