import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Database } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { countFailures } from '#db/queries/failures.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { jobSpecs, queryCpKyc } from '#src/ingest/specs.ts';
import { enqueueNextPage, openRun, startRun } from '#src/ingest/steps.ts';
import { type SampleApplication, startSampleApplication } from '#src/sample-application/start.ts';
import { aReceiver, aSender, withEvents } from '#test/support/events.ts';
import { ACCESS_TOKEN, addApplication, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, startTestFleet } from '#test/support/fleet.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { startFleet, type TestFleet } from '#test/support/kyc-fleet.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let sql: Database;
let application: SampleApplication;
let fleet: TestFleet;

beforeAll(async () => {
  sql = database.sql;
  application = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: 150 });
  const right = ringOf(['k1'], 'home-aaaaaaaa');
  // Registered before ENCRYPTION_KEYS was set: the installation's own key wraps the tokens.
  const own = ringOf([], 'home-aaaaaaaa');
  const webhooks = webhooksAt(application.url);
  await addApplication(sql, 'acme', webhooks, own);
  await addApplication(sql, 'bolt', webhooks, own);
  await store(sql, right, 'bolt', PLANTED);
  // ENCRYPTION_KEYS was lost: what is left is the installation's own key.
  fleet = await startFleet(
    'postgres',
    { sql, databaseUrl: database.databaseUrl },
    jobSpecs,
    ringOf([], 'home-aaaaaaaa'),
  );
});
afterAll(async () => {
  await fleet.stop();
  await application.close();
});

it('without the right key games land, and KYC fails closed with a clear reason', async () => {
  const run = {
    run_id: randomUUIDv7(),
    application_id: 'acme',
    trigger: 'manual',
    full: false,
    accept_withdrawals: false,
  } as const;
  const { run: opened } = await openRun(sql, run);
  await enqueueNextPage(fleet.producer, opened);
  const ended = async () =>
    (await sql`select outcome from sync_runs where run_id = ${run.run_id}`)[0]?.outcome;
  while ((await ended()) === null) await delay(20);
  expect(await ended()).toBe('succeeded');
  expect(await sql`select count(*)::int as landed from games where audit_status = 'pending'`).toEqual([
    { landed: 150 },
  ]);

  expect(await fleet.finish(queryCpKyc, { application_id: 'acme' })).toEqual({
    failed: expect.stringContaining('is sealed under key k1, which this process does not have'),
  });
  expect(await findKycState(sql, 'acme')).toMatchObject({ state: 'failed', reason: 'unknown_key' });
  expect(application.calls.query_cp_kyc).toBe(0);
  expect(await sql`select application_id from kyc_records`).toEqual([{ application_id: 'bolt' }]);
});

it('a lost key that opens access tokens delays and pauses no application, and is counted until the key is back', async () => {
  const { sql, deps, ended, startWorker, stop } = await startTestFleet(fleetBackend());
  onTestFinished(stop);
  await startWorker();
  const lost = ringOf(['lost']);
  const { application_id } = await addApplication(sql, 'acme', {}, lost);
  const scheduled = { application_id, trigger: 'schedule', full: false, accept_withdrawals: false } as const;
  for (let runs = 0; runs < 3; runs += 1) {
    const { run } = await startRun(deps, scheduled);
    expect(await ended(run.run_id)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^page 1: unknown_key: .* is sealed under key lost/),
    });
  }
  const { status, failed_runs, next_attempt_at } = (await findApplication(sql, application_id)) ?? {};
  expect({ status, failed_runs, next_attempt_at }).toEqual({
    status: 'active',
    failed_runs: 0,
    next_attempt_at: null,
  });
  expect(await countFailures(sql)).toEqual([{ operation: 'query_game_list', kind: 'keys', count: 1 }]);

  const receiver = await aReceiver();
  const { application_id: heard } = await withEvents(sql, receiver.url);
  await expect(aSender(sql, { keys: lost }).deliverNow(heard)).rejects.toThrow('this process does not have');
  expect(await countFailures(sql)).toContainEqual({
    operation: 'deliver_event',
    kind: 'unknown_key',
    count: 1,
  });
  await sql`update event_webhooks set next_attempt_at = now()`;
  await aSender(sql).deliverNow(heard);
  expect((await countFailures(sql)).map(({ operation }) => operation)).toEqual(['query_game_list']);
});
