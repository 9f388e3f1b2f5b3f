// How old details are, without a row that says so of each: db/queries/detail-ages.ts.
import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { insertApplication, updateApplication } from '#db/queries/applications.ts';
import { compareGames } from '#db/queries/compare-games.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { finishRun } from '#src/ingest/finish-run.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { addApplication, fetchedGame, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { startGate } from '#test/support/gate.ts';
import {
  goodDetail,
  idsOf,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { oneGame, rowVersions } from '#test/support/landed.ts';
import { runEndings } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet(fleetBackend());
beforeAll(() => fleet.startWorker());
const MAX_AGE_MS = 60_000;
const now = new Date('2026-06-01T12:00:00.000Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

/** An application with a game whose detail was requested 150 s ago. */
const aGame = async (state: { due?: number; full?: number; unlisted?: boolean }) => {
  const application = await addApplication(fleet.sql, `app-${randomUUIDv7()}`, {
    detail_max_age_ms: MAX_AGE_MS,
  });
  const { application_id } = application;
  const game = fetchedGame({}, ago(150));
  await upsertGames(fleet.sql, application_id, [game]);
  const at = (seconds: number | undefined) => (seconds === undefined ? null : ago(seconds));
  await fleet.sql`
    update applications set details_due_at = ${at(state.due)}, details_full_at = ${at(state.full)}
    where application_id = ${application_id}`;
  if (state.unlisted) await fleet.sql`update games set unlisted_at = now() where game_id = ${game.game_id}`;
  const isWanted = async () => {
    const age = { full: false, startedAt: now, everyMs: MAX_AGE_MS };
    const { open_games } = await compareGames(fleet.sql, application_id, [game], age);
    return Object.keys(open_games).length === 1;
  };
  return { application, game, isWanted };
};

it.for<[what: string, state: Parameters<typeof aGame>[0], fetchedAgo: number]>([
  ['no complete run is known', {}, 150],
  ['the last complete run began before the detail was too old', { due: 100 }, 150],
  ['the last complete run fetched it once', { due: 70 }, 90],
  ['the last complete run fetched it twice', { due: 20 }, 30],
  ['a run fetched every detail', { full: 45 }, 45],
  ['a run fetched every detail, and a later one what was due', { full: 110, due: 45 }, 50],
  ['the game is not listed', { due: 20, full: 45, unlisted: true }, 150],
])('A detail is fetched again by its age, if %s', async ([, state, fetchedAgo]) => {
  const { game, isWanted } = await aGame(state);
  expect((await findGame(fleet.sql, game.game_id))?.fetched_at).toEqual(ago(fetchedAgo));
  expect(await isWanted()).toBe(fetchedAgo * 1_000 >= MAX_AGE_MS);
});

it('A detail is fetched when the list names its game correctly again, however young it is: it may have changed meanwhile', async () => {
  const { application, game, isWanted } = await aGame({ due: 20 });
  expect(await isWanted()).toBe(false);
  const failure = { application_game_id: game.application_game_id, kind: 'invalid_item', reasons: [] };
  await recordFailures(fleet.sql, application.application_id, 'query_game_list', [failure]);
  expect(await isWanted()).toBe(true);
});

it('Another age applies at once, also to an application that is registered again; the same age changes nothing', async () => {
  const { application, isWanted } = await aGame({ due: 20 });
  const { application_id } = application;
  await updateApplication(fleet.sql, application_id, { rate: 7, detail_max_age_ms: MAX_AGE_MS });
  await updateApplication(fleet.sql, application_id, { rate: 8 });
  expect(await isWanted()).toBe(false);
  await updateApplication(fleet.sql, application_id, { detail_max_age_ms: 2 * MAX_AGE_MS });
  expect(await isWanted()).toBe(true);

  await fleet.sql`
    update applications set details_due_at = ${now}, status = 'removed' where application_id = ${application_id}`;
  const settings = {
    ...webhooksAt('http://127.0.0.1:1'),
    ...{ name: 'again', every_ms: 1, kyc_every_ms: 1, detail_max_age_ms: 1, concurrency: 1, rate: 1 },
    volatile_parameters: [],
    review_priority: 'normal' as const,
  };
  await insertApplication(fleet.sql, application_id, settings, application, true);
  expect(await isWanted()).toBe(true);
});

it('A day of details that did not change locks and writes no row, until no run is complete for four intervals', async () => {
  const { server } = await fleet.addApplication('same', 30);
  await fleet.sync('same');
  const locked = () =>
    fleet.sql`select game_id, xmax::text from games where application_id = 'same' order by game_id`;
  const before = [await rowVersions(fleet.sql, 'same'), await locked()];
  const { game_id } = await oneGame(fleet.sql, 'same', server.games.all()[3]?.game_id ?? '');
  const fetchedAt = async () => (await findGame(fleet.sql, game_id))?.fetched_at ?? 0;
  const first = await fetchedAt();

  expect(await fleet.sync('same', { full: true })).toMatchObject({ outcome: 'succeeded', unchanged: 30 });
  const full = await fetchedAt();
  expect(full > first).toBe(true);
  await fleet.sql`update applications set detail_max_age_ms = 1 where application_id = 'same'`;
  const { started_at } = await fleet.sync('same');
  // A call may be retried.
  expect(server.calls.query_game_detail).toBeGreaterThanOrEqual(90);
  expect(await fetchedAt()).toEqual(started_at);
  expect([await rowVersions(fleet.sql, 'same'), await locked()]).toEqual(before);

  await fleet.sql`update applications set details_due_at = now() - 5 * every_ms * interval '1 millisecond'`;
  await fleet.sync('same');
  const after = await rowVersions(fleet.sql, 'same');
  expect(after.filter(({ version }, at) => version === before[0]?.[at]?.version)).toEqual([]);
});

it('Details that fail beyond the failures that are kept are fetched by the next run: no row says that they failed', async () => {
  const { failures } = STORAGE;
  STORAGE.failures = 2;
  onTestFinished(() => {
    STORAGE.failures = failures;
  });
  const ids = idsOf('g', 5);
  const broken = ids.slice(1);
  const application = await startHostileApplication(fleet, 'broken', wellBehaved(ids));
  await fleet.sync('broken');
  await fleet.sql`update games set fetched_at = fetched_at - interval '90 s'`;
  await fleet.sql`
    update applications set details_due_at = null, detail_max_age_ms = 60000 where application_id = 'broken'`;
  const called: string[] = [];
  application.behaviour.detail = (id) => {
    called.push(id);
    return { data: broken.includes(id) ? {} : goodDetail(id) };
  };
  expect(await fleet.sync('broken')).toMatchObject({ outcome: 'partial', listed: 5, invalid: 4 });
  called.length = 0;
  await fleet.sync('broken');
  expect(called.toSorted()).toEqual(broken);
});

it('Another age applies at once, although a run is open that compared its pages by the former age', async () => {
  const { server } = await fleet.addApplication('aged', 2, { detail_max_age_ms: 200_000 });
  const gate = await startGate(server.url);
  onTestFinished(() => gate.close());
  await moveWebhooks(fleet.sql, 'aged', webhooksAt(gate.url));
  await fleet.sync('aged');
  await fleet.sql`
    update games set fetched_at = fetched_at - interval '150 s', list_hash = case when application_game_id = ${
      server.games.all()[0]?.game_id ?? ''
    } then '' else list_hash end where application_id = 'aged'`;
  gate.block(({ operation }) => operation === 'query_game_detail');
  const run = await fleet.startRun('aged');
  await gate.blocked(1);
  await updateApplication(fleet.sql, 'aged', { detail_max_age_ms: 100_000 });
  gate.release();
  expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', unchanged: 2 });
  const called: unknown[] = [];
  gate.block(({ operation, body }) => {
    if (operation === 'query_game_detail') called.push(body.game_id);
    return false;
  });
  await fleet.sync('aged');
  expect(called).toContain(server.games.all()[1]?.game_id);
});

it('A run whose pages a crash of Postgres emptied is abandoned, withdraws nothing, and another one begins', async () => {
  const { server } = await fleet.addApplication('crashed', 120);
  const gate = await startGate(server.url);
  onTestFinished(() => gate.close());
  await moveWebhooks(fleet.sql, 'crashed', webhooksAt(gate.url));
  await fleet.sync('crashed');
  gate.block(({ operation }) => operation === 'query_game_detail');
  const run = await fleet.startRun('crashed', { full: true, accept_withdrawals: true });
  await gate.blocked(1);
  await fleet.sql`truncate sync_run_pages`;
  // A job that had read its page before finds nothing to end.
  await fleet.sql`update sync_runs set listing_end = 'complete' where run_id = ${run.run_id}`;
  expect(await finishRun(runEndings(fleet.sql), run)).toBeUndefined();
  gate.release();

  expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'abandoned', withdrawn: 0 });
  const next = await until('another run', async () => {
    const [later] = await fleet.sql<{ run_id: string }[]>`
      select run_id from sync_runs where application_id = 'crashed' and run_number > ${run.run_number}`;
    return later;
  });
  expect(await fleet.ended(next.run_id)).toMatchObject({
    outcome: 'succeeded',
    full: true,
    unchanged: 120,
    withdrawn: 0,
  });
});
