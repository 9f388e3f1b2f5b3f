import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertRefreshes, requestGames } from '#db/queries/refreshes.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { buildApi } from '#src/api/app.ts';
import { LIST_EVENTS_PATH, REFRESH_PATH } from '#src/contract/events.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { pullGames } from '#src/operations/pull-games.ts';
import { post } from '#test/support/api.ts';
import { addToken, KIM } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { listRuns } from '#test/support/stored-rows.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet(fleetBackend(), 1);
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const logger = pino({ level: 'silent' });
  const api = await buildApi({ sql: fleet.sql, auditTimeZone: 'UTC', logger, ready: async () => {} });
  url = await api.listen({ host: '127.0.0.1', port: 0 });
  close = () => api.close();
});
afterAll(async () => {
  await close();
});

const addJobs = () => addUrgentJobs(fleet.sql, fleet.producer);
const aSynced = async (application_id: string, games: number, rate = 1_000) => {
  const { server } = await fleet.addApplication(application_id, games);
  await fleet.sync(application_id);
  await fleet.sql`update applications set rate = ${rate} where application_id = ${application_id}`;
  const { token } = await addToken(fleet.sql, application_id);
  const ping = (game_ids: unknown) => post(url, REFRESH_PATH, token, { game_ids });
  const ids = server.games.all().map(({ game_id }) => game_id);
  return { server, ping, ids, token };
};
const waiting = async (application_id: string): Promise<string[]> => {
  const rows = await fleet.sql<{ id: string }[]>`
    select application_game_id as id from refresh_requests where application_id = ${application_id} order by 1`;
  return rows.map(({ id }) => id);
};
/** The application's next turn is now, and its last run began long ago. */
const passTurn = async (application_id: string): Promise<void> => {
  await fleet.sql`update refresh_turns set next_at = now() where application_id = ${application_id}`;
  await fleet.sql`update sync_runs set started_at = started_at - interval '1 hour'
    where application_id = ${application_id} and finished_at is not null`;
};

it('a changed description of a decided game is pending again, and says so', async () => {
  const { server, ping, ids, token } = await aSynced('acme', 3);
  const [id = ''] = ids;
  const game = async () => findApplicationGame(fleet.sql, 'acme', id);
  await decideGame(fleet.sql, { game_id: (await game())?.game_id ?? '', audit_status: 'passed' });
  server.games.update(id, { game_info: 'Another description.' });
  const before = { ...server.calls };
  expect(await ping([id, id])).toMatchObject({ status: 200, body: { ret_code: 0, data: { accepted: 1 } } });
  await addJobs();
  await until('the game is pending', async () => (await game())?.audit_status === 'pending');
  // The request went with the transaction that wrote the detail.
  expect(await waiting('acme')).toEqual([]);
  expect(server.calls).toEqual({ ...before, query_game_detail: before.query_game_detail + 1 });
  const { body } = await post(url, LIST_EVENTS_PATH, token, { after: '' });
  expect(body.data.list.at(-1)).toMatchObject({
    type: 'game.pending',
    data: { application_game_id: id, why: 'content_changed', audit_status: 'pending', audit_time: '' },
  });
  expect(await waiting('acme')).toEqual([]);
});

it('a thousand pings cost the application its own rate, and others nothing', async () => {
  const busy = await aSynced('busy', 40, 4);
  const quiet = await aSynced('quiet', 2);
  const callsBefore = [busy.server.calls.query_game_detail, quiet.server.calls.query_game_detail];
  for (let n = 0; n < 1_000; n += 1) await insertRefreshes(fleet.sql, 'busy', [busy.ids[n % 40] ?? '']);
  await busy.ping(busy.ids);
  expect(await waiting('busy')).toHaveLength(40);
  const jobs = () => fleet.producer.queue(pullGameDetail).getJobCountByTypes('waiting', 'active', 'delayed');
  await Promise.all([addJobs(), addJobs()]);
  await addJobs();
  expect(await jobs()).toBe(1);
  const began = performance.now();
  await until('all are pulled', async () => {
    await addJobs();
    expect(await jobs()).toBeLessThanOrEqual(1);
    return (await waiting('busy')).length === 0;
  });
  // 40 calls at four a second.
  expect(performance.now() - began).toBeGreaterThan(8_000);
  expect(busy.server.calls.query_game_detail).toBe((callsBefore[0] ?? 0) + 40);
  expect(quiet.server.calls.query_game_detail).toBe(callsBefore[1]);
  const runs = await listRuns(fleet.sql, { application_id: 'busy', limit: 10 });
  expect(runs).toHaveLength(1);
});

it('ids that are not stored, also those of another application, request the list of the token alone', async () => {
  const mine = await aSynced('mine', 2);
  const other = await aSynced('other', 2);
  const before = { ...other.server.calls };
  expect((await mine.ping([other.ids[0], 'nobody', mine.ids[1]])).body.data).toEqual({ accepted: 3 });
  expect(await waiting('mine')).toEqual(['', mine.ids[1]]);
  await addJobs();
  const run = await until('a run has ended', async () =>
    (await listRuns(fleet.sql, { application_id: 'mine', limit: 10 })).find(
      ({ trigger, finished_at }) => trigger === 'refresh' && finished_at !== null,
    ),
  );
  expect(run).toMatchObject({ full: false, outcome: 'succeeded', listed: 2 });
  await until('the game is pulled', async () => (await waiting('mine')).length === 0);
  // The next list is read a minute later.
  await mine.ping([]);
  await addJobs();
  expect(await waiting('mine')).toEqual(['']);
  await passTurn('mine');
  await addJobs();
  await until('the whole list is pulled', async () =>
    (await listRuns(fleet.sql, { application_id: 'mine', limit: 10 })).some(({ full }) => full),
  );
  expect(other.server.calls).toEqual(before);
});

it('refuses an operator, ids that are none, more than a hundred, and more than ten thousand that wait', async () => {
  const { ping, ids } = await aSynced('strict', 1);
  const { token } = await addToken(fleet.sql, null);
  expect((await post(url, REFRESH_PATH, token, { game_ids: [] })).body.ret_code).toBe(40301);
  expect((await ping(undefined)).body).toMatchObject({ ret_code: 40001, ret_msg: 'game_ids is missing' });
  expect((await ping([''])).body.ret_msg).toMatch(/^game_ids\.0 /);
  expect((await ping(['\u0000'])).body.ret_msg).toContain('U+0000');
  expect((await ping(Array(101).fill('x'))).body.ret_msg).toBe('game_ids must have at most 100 ids');
  await ping(ids);
  await fleet.sql`
    insert into refresh_requests (application_id, application_game_id)
    select 'strict', n::text from generate_series(1, 9999) n`;
  const full = await ping(['one more']);
  expect(full).toMatchObject({ status: 429, body: { ret_code: 42902 } });
  expect(full.headers.get('retry-after')).toBe('60');
  // A game that waits already is no further request.
  expect((await ping(ids)).body).toMatchObject({ ret_code: 0, data: { accepted: 1 } });
  await fleet.sql`delete from refresh_requests`;
});

it('a paused application is not called; what pulls have stored counts against a budget of 24 hours', async () => {
  const { ping, ids } = await aSynced('paused', 2);
  const count = async () => (await waiting('paused')).length;
  await fleet.sql`update applications set status = 'paused' where application_id = 'paused'`;
  await ping(ids);
  await addJobs();
  expect(await count()).toBe(2);
  await fleet.sql`update applications set status = 'active' where application_id = 'paused'`;
  await fleet.sql`
    insert into refresh_turns (application_id, next_at, stored_bytes) values ('paused', now(), 2147483648)`;
  await addJobs();
  expect(await count()).toBe(2);
  await fleet.sql`
    update refresh_turns set day_started_at = now() - interval '25 hours' where application_id = 'paused'`;
  await addJobs();
  await until('both are pulled', async () => (await count()) === 0);
});

it('what an operator requests is pulled first, of a paused application and beyond its budget too', async () => {
  const { ping, ids, server } = await aSynced('wanted', 3);
  const [first = '', second = '', third = ''] = ids;
  await fleet.sql`update applications set status = 'paused' where application_id = 'wanted'`;
  await fleet.sql`
    insert into refresh_turns (application_id, next_at, stored_bytes) values ('wanted', now(), 2147483648)`;
  await ping([first, second]);
  const application_game_ids = [second, third, 'not-there'];
  await operateAs(fleet.sql, KIM, pullGames, { application_id: 'wanted', application_game_ids });
  const before = server.calls.query_game_detail;
  await addJobs();
  await until('they are pulled', async () => (await waiting('wanted')).length === 1);
  expect(await waiting('wanted')).toEqual([first]);
  expect(server.calls.query_game_detail).toBe(before + 3);
  // Ten thousand requests of operators leave room for those of the application.
  await requestGames(
    fleet.sql,
    'wanted',
    Array.from({ length: 10_000 }, (_, n) => `many-${n}`),
  );
  expect((await ping([second])).body.data).toEqual({ accepted: 1 });
  await fleet.sql`delete from refresh_requests`;
});
