import { randomUUID, randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { insertAppeal } from '#db/queries/appeals.ts';
import { finishCheck, insertCheck } from '#db/queries/application-checks.ts';
import { recordAudit } from '#db/queries/audit.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { insertToken, recordTokenUse } from '#db/queries/tokens.ts';
import { insertVerdict } from '#db/queries/verdicts.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import { approve } from '#src/operations/requests.ts';
import { subscribe } from '#src/operations/subscriptions.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import { fillConsole } from '#test/console/filled-console.ts';
import { answerBy, askBy } from '#test/support/approvals.ts';
import { addTestOperator } from '#test/support/console.ts';
import { KIM } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';

const KEYS = ringOf(['k1']);

/** KYC records: changed, with a new cp_id, with the same tax id, and one whose pull failed. */
const fillKyc = async (sql: Database): Promise<void> => {
  await store(sql, KEYS, 'lantern-works', PLANTED);
  for (const opening_bank of ['One', 'Two', 'Three'])
    await store(sql, KEYS, 'lantern-works', { ...PLANTED, opening_bank });
  await store(sql, KEYS, 'studio-mizu', { ...PLANTED, cp_id: 'mizu' });
  await store(sql, KEYS, 'studio-mizu', { ...PLANTED, cp_id: 'mizu-2' });
  await store(sql, KEYS, 'northwind-play', { ...PLANTED, cp_id: 'north', tax_id: 'N-1' });
  await sql`update kyc_states set state = 'failed', reason = 'timeout' where application_id = 'northwind-play'`;
};

/** A suspect run that is the last one of its application, with the games that it would withdraw. */
const addSuspectRun = async (sql: Database): Promise<string> => {
  const run_id = randomUUIDv7();
  await sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, reason, note, listing_end, finished_at)
    values (${run_id}, 'northwind-play', 'manual', 'suspect', 'too many would vanish', 'a note', 'complete', now())`;
  await sql`
    insert into vanishing_games (run_id, game_id)
    select ${run_id}, game_id from games where application_id = 'northwind-play' order by game_id limit 9`;
  await sql`
    insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games, kind, reason,
                                listed, inserted, updated, unchanged, invalid, failed, missing)
    select ${run_id}, n, 100, 300, '{}', '{"g": ""}', case when n = 3 then 'unread' else 'listed' end,
           case when n = 3 then 'page 3: not_utf8' end, 100, 1, 2, 3, 4, 5, 6 from generate_series(1, 5) n`;
  return run_id;
};

const fillApprovals = async (sql: Database, run_id: string): Promise<void> => {
  const request = (kind: 'reveal' | 'erase', application_id: string) =>
    askBy(sql, 'kim', { kind, subject: `application:${application_id}`, reason: 'ticket 4711' });
  const { approval_id } = await request('reveal', 'lantern-works');
  await answerBy(sql, 'lee', approve, approval_id);
  await request('erase', 'lantern-works');
  await request('reveal', 'studio-mizu');
  for (const login of ['olga', 'rui'])
    await askBy(sql, login, { kind: 'withdrawals', subject: `run:${run_id}`, reason: 'they are gone' });
};

/** Verdicts that stand and one that has ended, and games that are live without one. */
const fillVerdicts = async (sql: Database): Promise<void> => {
  const records = await sql<{ application_id: string; record_id: string }[]>`
    select application_id, record_id from kyc_records order by application_id`;
  const common = { verdict: 'refused', reason: 'ticket 4711', text: null, decided_by: 'kim' } as const;
  for (const record of [...records, ...records])
    await insertVerdict(sql, { ...record, ...common, expires_ms: 86_400_000 });
  await sql`
    update games set audit_status = 'passed', audit_time = now() where game_id in (
      select distinct on (application_id) game_id from games where audit_status = 'pending' and withdrawn_at is null
      order by application_id, application_game_id desc)`;
  await sql`
    update kyc_verdicts set expires_at = now() where application_id = 'lantern-works' and ended_at is null`;
  await setDecisionRules(sql, { games_need_verdict: true });
};

/** Reports of checks: with a case that failed, without a report, and of a check that runs. */
const fillChecks = async (sql: Database, application_id: string): Promise<void> => {
  const results = [
    { failed: 1, passed: 2, skipped: 3, cases: [{ name: 'list.total', outcome: 'failed' }] },
    { error: 'The check was lost: run it again.' },
  ];
  for (const result of [...results, undefined]) {
    const check = { check_id: randomUUIDv7(), application_id, requested_by: 'olga' };
    await insertCheck(sql, check);
    if (result !== undefined) await finishCheck(sql, check, result);
    await sql`update application_checks set requested_at = requested_at - interval '1 hour'`;
  }
};

/** Filters of lists by name, for those that require one or have more columns with it. */
export type Filters = Record<string, Record<string, string>[]>;

/** Rows of every list. */
export const fillLists = async (sql: Database): Promise<Filters> => {
  const { batch_id, game_id } = await fillConsole(sql);
  for (const login of ['olga', 'rui']) await addTestOperator(sql, login, 'reviewer', 'admin');
  for (const login of ['kim', 'lee']) await addTestOperator(sql, login, 'kyc_officer');
  await sql`update operators set last_sign_in_at = now() where login = 'olga'`;
  await sql`update reasons set text = 'Add a description.' where code = 'incomplete'`;
  await sql`update reasons set retired_at = now() where code = 'other'`;
  await fillKyc(sql);
  const run_id = await addSuspectRun(sql);
  await fillApprovals(sql, run_id);
  for (const name of ['one', 'two', 'three']) {
    const token_id = randomUUIDv7();
    const expires_at = new Date(Date.now() + 60_000);
    const application_id = name === 'one' ? null : 'lantern-works';
    const token_hash = hashApiToken(createApiToken());
    const owner = name === 'one' ? { login: 'olga', roles: ['reviewer' as const] } : {};
    await insertToken(sql, { token_id, token_hash, application_id, name, expires_at, ...owner });
    await recordTokenUse(sql, token_id);
  }
  for (const pid of [1, 2, 3])
    await recordHeartbeat(sql, { worker_id: randomUUID(), host: 'host', pid, queue: 'Postgres' });
  // They stay live, however slow the machine is.
  await sql`update workers set seen_at = now() + interval '1 hour'`;
  await sql`
    update games set withdrawn_at = now(), unlisted_at = now() - interval '1 hour'
    where game_id in (select game_id from games where application_id = 'lantern-works' and audit_status = 'pending'
                      order by application_game_id desc limit 5)`;
  const [appealed = { game_id: '' }] = await sql<{ game_id: string }[]>`
    select game_id from games where application_id = 'lantern-works' and audit_status = 'pending' and withdrawn_at is null
    order by game_id desc limit 1`;
  await decideGame(sql, { ...appealed, audit_status: 'rejected', reason: 'rights', text: 'Whose is it?' });
  await insertAppeal(sql, { ...appealed, text: 'It is ours.' });
  const reveal = {
    action: 'kyc.reveal',
    subject: 'application:lantern-works',
    reason: 'ticket 4711',
  } as const;
  const claimed = { actor: 'kim', actor_kind: 'command_line', os_user: 'root' } as const;
  for (const actor of [KIM, claimed, KIM])
    await recordAudit(sql, [{ ...actor, ...reveal, details: { second_person: 'lee' } }]);
  for (const types of [[], ['game.received' as const], ['run.suspect' as const]])
    await operateAs(sql, { actor: 'olga', actor_kind: 'operator' }, subscribe, {
      url: 'https://catalogue.example/events',
      types,
    });
  await sql`
    update event_subscriptions
    set last_success_at = now(), failing_since = now() - interval '2 hours', last_error = 'timeout'`;
  await sql`update event_webhooks set last_success_at = now() where application_id = 'lantern-works'`;
  await sql`update applications set last_success_at = now() where application_id = 'lantern-works'`;
  await fillChecks(sql, 'lantern-works');
  await fillVerdicts(sql);
  const [withdrawn] = await sql<{ application_game_id: string }[]>`
    select application_game_id from games where withdrawn_at is not null limit 1`;
  return {
    'run.pages': [{ run_id }],
    'run.withdrawals': [{ run_id }],
    'review.batch': [{ batch_id: batch_id ?? '' }],
    'review.list': [{}, { lane: 'changed' }],
    'game.thread': [{ game_id }],
    'game.rejected': [{ application_id: 'lantern-works' }],
    'game.withdrawn': [{ application_id: 'lantern-works' }],
    'game.list': [{}, { search: withdrawn?.application_game_id ?? '' }],
    'kyc.versions': [{ application_id: 'lantern-works' }],
    'application.checks': [{ application_id: 'lantern-works' }],
  };
};
