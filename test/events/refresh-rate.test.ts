import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, expect, it } from 'vitest';
import { hasWaitingGames, insertRefreshes } from '#db/queries/refreshes.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { pullGames } from '#src/operations/pull-games.ts';
import { aDetail, KIM, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { type Gate, startGate } from '#test/support/gate.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const CONCURRENCY = 4;
/** Seconds that calls to an application that answers at once may be late: jobs write between their calls. */
const LATE_S = 0.5;

const fleet = useTestFleet(fleetBackend(), 2);
const gates: Gate[] = [];
afterAll(async () => {
  for (const gate of gates) await gate.close();
});

const addJobs = () => addUrgentJobs(fleet.sql, fleet.producer);

/** A synced application behind a gate that notes when each detail is called, in seconds. */
const aWatched = async (application_id: string, games: number, rate: number) => {
  const { server } = await fleet.addApplication(application_id, games, { concurrency: CONCURRENCY });
  await fleet.sync(application_id);
  const gate = await startGate(server.url);
  gates.push(gate);
  const calls: { id: string; at: number }[] = [];
  gate.block(({ operation, body }) => {
    if (operation === 'query_game_detail')
      calls.push({ id: body.game_id ?? '', at: performance.now() / 1_000 });
    return false;
  });
  await moveWebhooks(fleet.sql, application_id, webhooksAt(gate.url));
  await fleet.sql`update applications set rate = ${rate} where application_id = ${application_id}`;
  const ids = server.games.all().map(({ game_id }) => game_id);
  return { server, gate, calls, ids };
};

it('a run, the refreshes of a ping and the pulls of an operator stay within the rate together, with two workers', async () => {
  const RATE = 100;
  const { calls, ids } = await aWatched('acme', 200, RATE);
  await insertRefreshes(fleet.sql, 'acme', ids);
  // A process that does not run starts calls late, and notes them late.
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const run = await fleet.startRun('acme', { full: true });
  await Promise.all([
    addJobs(),
    operateAs(fleet.sql, KIM, pullGames, { application_id: 'acme', application_game_ids: ids.slice(0, 100) }),
  ]);
  await until('every detail was called', async () => {
    await addJobs();
    return calls.length >= 400 && !(await hasWaitingGames(fleet.sql, 'acme', ids));
  });
  await fleet.ended(run.run_id);
  delay.disable();
  const burst = RATE * (LATE_S + delay.max / 1e9) + CONCURRENCY;
  const most = calls.reduce(
    (max, { at: from }, first) =>
      calls
        .slice(first)
        .reduce((inner, { at }, index) => Math.max(inner, index + 1 - RATE * (at - from)), max),
    0,
  );
  // In each window of time: no more calls than the rate allows in it, and the burst.
  expect(most).toBeLessThanOrEqual(burst);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(200);
});

it('pages that want details are called at the rate, too', async () => {
  const { server, gate, ids } = await aWatched('listed', 150, 1);
  for (const id of [ids[0], ids[149]]) server.games.update(id ?? '', { game_name: 'Another name' });
  const pages: number[] = [];
  gate.block(({ operation }) => {
    if (operation === 'query_game_list') pages.push(performance.now());
    return false;
  });
  const run = await fleet.startRun('listed');
  expect(await fleet.ended(run.run_id)).toMatchObject({ updated: 2 });
  const waits = pages.slice(1).map((at, before) => at - (pages[before] ?? 0));
  expect(waits.length).toBeGreaterThan(0);
  for (const ms of waits) expect(ms).toBeGreaterThan(1_000 * (1 - LATE_S));
});

it('a changed description is pending again while a long run is open', async () => {
  const { server, calls, ids } = await aWatched('long', 1, 10);
  const [id = ''] = ids;
  const game = () => findApplicationGame(fleet.sql, 'long', id);
  await decideGame(fleet.sql, { game_id: (await game())?.game_id ?? '', audit_status: 'passed' });
  for (let n = 0; n < 1_000; n += 1) server.games.add(aDetail({ game_id: `new-${n}` }));
  const run = await fleet.startRun('long');
  await until('the run calls details', () => calls.length > 0);
  server.games.update(id, { game_info: 'Another description.' });
  await insertRefreshes(fleet.sql, 'long', [id]);
  await addJobs();
  await until('the game is pending', async () => (await game())?.audit_status === 'pending');
  const [row] = await fleet.sql<{ open: boolean }[]>`
    select finished_at is null as open from sync_runs where run_id = ${run.run_id}`;
  expect(row).toEqual({ open: true });
  expect(calls.filter((call) => call.id === id)).toHaveLength(1);
  await fleet.sql`update applications set status = 'removed' where application_id = 'long'`;
});

it('applications that never answer delay the refresh of no other', async () => {
  const SILENT = 24;
  for (let n = 0; n < SILENT; n += 1) {
    const { gate, ids } = await aWatched(`silent-${n}`, 1, 50);
    gate.block(({ operation }) => operation === 'query_game_detail');
    await insertRefreshes(fleet.sql, `silent-${n}`, ids);
    await addJobs();
    await gate.blocked(1);
  }
  const { calls, ids } = await aWatched('quick', 1, 50);
  await insertRefreshes(fleet.sql, 'quick', ids);
  await addJobs();
  await until('the game is called', () => calls.length === 1);
});
