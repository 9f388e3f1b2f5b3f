// The clock of Postgres was an hour ahead, and was set back: rows that were written before have times that lie ahead.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { listDueApplications } from '#db/queries/event-deliveries.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { upsertGames } from '#db/queries/games.ts';
import { saveKycState } from '#db/queries/kyc.ts';
import { claimPicture } from '#db/queries/picture-fetches.ts';
import { findPictures } from '#db/queries/pictures.ts';
import {
  addPulledBytes,
  insertRefreshes,
  listDueRefreshes,
  postponeRefreshes,
} from '#db/queries/refreshes.ts';
import { findRun } from '#db/queries/runs.ts';
import { correctTimesAhead } from '#db/queries/times-ahead.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { storeKycRecord } from '#src/kyc/store-record.ts';
import { workerList } from '#src/lists/queues.ts';
import { WAITING } from '#src/rules/waiting.ts';
import { addApplication, anOpenRun, fetchedGame, testKeys } from '#test/support/factories.ts';
import { fleetBackend, startTestFleet, useTestFleet } from '#test/support/fleet.ts';
import { readPage } from '#test/support/lists.ts';
import { decideGame } from '#test/support/operate.ts';

const fleet = useTestFleet(fleetBackend());
const live = new AbortController().signal;
const logger = pino({ level: 'silent' });

it('A detail that is requested now overwrites one that was requested an hour ahead', async () => {
  await addApplication(fleet.sql, 'details');
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000);
  const write = (changes: object, minutes: number) =>
    upsertGames(fleet.sql, 'details', [fetchedGame(changes, at(minutes))]);
  await write({}, 60);
  expect(await write({ game_info: 'Changed since.' }, 0)).toEqual({ inserted: [], updated: ['g-1'] });
  const [row] =
    await fleet.sql`select fetched_at <= now() as is_past from games where application_id = 'details'`;
  expect(row).toEqual({ is_past: true });
  // The order of requests counts as before: an earlier one overwrites nothing.
  expect(await write({ game_info: 'Older.' }, -5)).toEqual({ inserted: [], updated: [] });
});

it('An open run whose job is lost is recovered, although it made progress an hour ahead', async () => {
  const own = await startTestFleet(fleetBackend());
  await using stack = new AsyncDisposableStack();
  stack.defer(own.stop);
  await addApplication(own.sql, 'runs');
  const { run_id } = await anOpenRun(own.sql, 'runs');
  await own.sql`update sync_runs set started_at = now() + interval '1 hour', progress_at = now() + interval '1 hour'`;
  await reconcile({ ...own, logger }, live);
  await own.sql`update sync_runs set progress_at = progress_at - interval '1 minute'`;
  await reconcile({ ...own, logger }, live);
  expect(await findRun(own.sql, run_id)).toMatchObject({ fence: 2, finished_at: null });
});

it('A KYC record that is pulled now is stored, although the one before was pulled an hour ahead', async () => {
  await addApplication(fleet.sql, 'records');
  const ahead = new Date(Date.now() + 60 * 60_000);
  await fleet.sql`insert into kyc_states (application_id) values ('records')`;
  await saveKycState(fleet.sql, 'records', { state: 'not_provided', pulled_at: ahead });
  const pull = async () => {
    const key = { key: Buffer.alloc(32), wraps: [] };
    const asked = { application_id: 'records', pulled_at: new Date() };
    return storeKycRecord(fleet.sql, { keys: testKeys, fingerprintKey: key as never }, asked, null);
  };
  expect(await pull()).toBe('overtaken');
  expect(await correctTimesAhead(fleet.sql)).toBe(1);
  expect(await pull()).toBe('not_provided');
});

it('Events are sent, pings are pulled and dead workers are forgotten, although their times lie an hour ahead', async () => {
  await addApplication(fleet.sql, 'waits');
  const webhook = {
    application_id: 'waits',
    url: 'http://127.0.0.1:9/',
    secret: Buffer.from('x'),
    secret_keys: [],
  };
  await upsertEventWebhook(fleet.sql, webhook);
  const game = fetchedGame();
  await upsertGames(fleet.sql, 'waits', [game]);
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'passed' });
  await fleet.sql`insert into refresh_requests (application_id, application_game_id) values ('waits', 'g-1')`;
  await postponeRefreshes(fleet.sql, 'waits', 60 * 60_000);
  await recordHeartbeat(fleet.sql, {
    worker_id: '01a20cd3-6785-716d-8288-f936123d5093',
    host: 'dead',
    pid: 1,
    queue: 'Postgres',
  });
  await fleet.sql`update workers set seen_at = now() + interval '1 hour'`;
  await fleet.sql`
    update event_deliveries set requested_at = now() + interval '1 hour', next_attempt_at = now() + interval '1 hour'`;
  await fleet.sql`
    update event_webhooks set last_attempt_at = now() + interval '1 hour', next_attempt_at = now() + interval '61 minutes'`;
  const due = async () => [
    await listDueApplications(fleet.sql, 9),
    (await listDueRefreshes(fleet.sql, 9, 1e9)).map(({ application_id }) => application_id),
    (await readPage(fleet.sql, workerList, {}, { limit: 9 })).rows.map(({ host }) => host),
  ];
  expect(await due()).toEqual([[], [], ['dead']]);
  expect(await correctTimesAhead(fleet.sql)).toBe(4);
  expect(await due()).toEqual([['waits'], ['waits'], []]);
  expect(await correctTimesAhead(fleet.sql)).toBe(0);
});

it('Pictures are requested and compared, decisions carried over and pulls counted, although their times lie ahead', async () => {
  const { sql } = fleet;
  const at = (n: number) => ({ application_id: 'pictured', url: `https://cdn.example/${n}.png` });
  const [decided, address] = [at(1), at(2)];
  await addApplication(sql, 'pictured');
  const game = fetchedGame({ game_icon: [], game_store_pic: [decided.url] });
  await upsertGames(sql, 'pictured', [game]);
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await upsertGames(sql, 'pictured', [
    fetchedGame({ game_icon: [], game_store_pic: [address.url] }, new Date(Date.now() + 1_000)),
  ]);
  const day = 86_400_000;
  await addPulledBytes(sql, 'pictured', 500);
  await insertRefreshes(sql, 'pictured', ['g-1']);
  const isDue = async () =>
    (await listDueRefreshes(sql, 9, 400)).some(
      ({ has_games, application_id }) => has_games && application_id === 'pictured',
    );
  const carried = async () =>
    (await takeCarryCandidates(sql, 9, 60_000)).map(({ application_id }) => application_id);
  const isStale = async () => (await findPictures(sql, [address])).get(address)?.stale;
  const check = () =>
    recheckPicturesJob.handler({}, { deps: { sql, recheckMs: day }, signal: live } as never);
  const nextCheckMs = async () => {
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from next_check_at - now()) * 1000)::float8 as ms from pictures where url = ${decided.url}`;
    return row?.ms;
  };
  // As late as they may be: nothing is due, and nothing is corrected.
  expect(await claimPicture(sql, address, false)).toBeDefined();
  await sql`update pictures set next_check_at = case when url = ${decided.url} then now() + interval '1 day' end`;
  await sql`update pictures set fresh_until = now() + interval '1 hour' where url = ${address.url}`;
  await sql`update changed_games set carry_at = now() + interval '6 hours'`;
  await check();
  expect(await correctTimesAhead(sql)).toBe(0);
  expect([await isDue(), await carried(), await isStale()]).toEqual([false, [], false]);
  expect(await claimPicture(sql, address, false)).toBeUndefined();
  expect(await nextCheckMs()).toBeGreaterThan(0.99 * day);
  // Written while the clock was a week ahead.
  await sql`update pictures set next_check_at = next_check_at + interval '7 days', fresh_until = fresh_until + interval '7 days'`;
  await sql`update changed_games set carry_at = carry_at + interval '7 days'`;
  await sql`update refresh_turns set day_started_at = now() + interval '7 days' where application_id = 'pictured'`;
  await check();
  expect(await correctTimesAhead(sql)).toBe(2);
  expect([await carried(), await isStale()]).toEqual([['pictured'], true]);
  expect(await claimPicture(sql, address, false)).toBeDefined();
  expect(await nextCheckMs()).toBeLessThan(day);
  await sql`update refresh_turns set day_started_at = day_started_at - interval '25 hours' where application_id = 'pictured'`;
  expect(await isDue()).toBe(true);
});

it('The longest Retry-After of an application is waited for', async () => {
  await addApplication(fleet.sql, 'busy');
  await fleet.sql`insert into refresh_requests (application_id, application_game_id) values ('busy', 'g-1')`;
  await postponeRefreshes(fleet.sql, 'busy', WAITING.retryAfterMaxMs);
  expect(await correctTimesAhead(fleet.sql)).toBe(0);
  const due = await listDueRefreshes(fleet.sql, 9, 1e9);
  expect(due.map(({ application_id }) => application_id)).not.toContain('busy');
});

it('A run that began an hour ahead does not keep a requested one waiting', async () => {
  await addApplication(fleet.sql, 'lists');
  await insertRefreshes(fleet.sql, 'lists', []);
  const { run_id } = await anOpenRun(fleet.sql, 'lists');
  await fleet.sql`
    update sync_runs set trigger = 'refresh', finished_at = now(), outcome = 'succeeded' where run_id = ${run_id}`;
  const mayList = async () =>
    (await listDueRefreshes(fleet.sql, 9, 1e9)).some(({ application_id }) => application_id === 'lists');
  expect(await mayList()).toBe(false);
  await fleet.sql`update sync_runs set started_at = now() + interval '1 hour' where run_id = ${run_id}`;
  expect(await mayList()).toBe(true);
});
