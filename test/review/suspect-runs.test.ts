import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { listAudit } from '#db/queries/audit.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { findLaterRun } from '#db/queries/vanishing-games.ts';
import { enqueueNextPage, openRun } from '#src/ingest/steps.ts';
import { applicationList } from '#src/lists/applications.ts';
import { runList, runWithdrawalList } from '#src/lists/runs.ts';
import { KIM } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { readPage } from '#test/support/lists.ts';
import { acceptWithdrawals } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet(fleetBackend(), 1);

const vanishing = async (run_id: string, limit = 100, cursor?: string) =>
  (await readPage(fleet.sql, runWithdrawalList, { run_id }, { limit, cursor })).rows;
const present = async (application_id: string): Promise<number> => {
  const [row] = await fleet.sql<{ count: number }[]>`
    select count(*)::int from games where application_id = ${application_id} and withdrawn_at is null`;
  return row?.count ?? 0;
};

it('The games that a suspect run would withdraw are listed, and accepted one by one or all', async () => {
  const { server } = await fleet.addApplication('shrinking', 30);
  await fleet.sync('shrinking');
  for (const { game_id } of server.games.all().slice(0, 20)) server.games.remove(game_id);
  const run = await fleet.sync('shrinking');
  expect(run.outcome).toBe('suspect');
  const games = await vanishing(run.run_id);
  expect(games).toHaveLength(20);
  const [first, second] = games as [(typeof games)[0], (typeof games)[0]];
  expect(first).toMatchObject({
    game_name: expect.any(String),
    game_icon: expect.any(Array),
    audit_status: 'pending',
  });
  expect((await vanishing(run.run_id, 2, `game_id,${first.game_id}`))[0]).toEqual(second);

  const accept = (ids?: string[]) => acceptWithdrawals(fleet.sql, run.run_id, ids, KIM);
  expect(await accept([first.game_id, randomUUID()])).toEqual([first.game_id]);
  expect(await accept([first.game_id])).toEqual([]);
  expect(await present('shrinking')).toBe(29);
  expect(await vanishing(run.run_id)).toHaveLength(19);
  await fleet.sql`update games set fetched_at = now() where game_id = ${second.game_id}`;
  expect(await accept()).toHaveLength(18);
  expect(await present('shrinking')).toBe(11);
  expect(await listAudit(fleet.sql, { subject: `run:${run.run_id}`, limit: 9 })).toMatchObject([
    { action: 'run.accept_withdrawals', actor: 'kim', details: { games: 18 } },
    { details: { games: 1, game_ids: [first.game_id] } },
  ]);

  await fleet.sync('shrinking');
  await expect(accept()).rejects.toThrow('A later run of shrinking has begun');
  await expect(acceptWithdrawals(fleet.sql, randomUUID(), undefined, KIM)).rejects.toThrow('There is no run');
});

it('Only the games of the last suspect run are kept, and none of a run that is not suspect', async () => {
  const { server } = await fleet.addApplication('gone', 15);
  await fleet.sync('gone');
  const removed = server.games.all();
  for (const { game_id } of removed) server.games.remove(game_id);
  const first = await fleet.sync('gone');
  expect(await vanishing(first.run_id)).toHaveLength(15);
  const second = await fleet.sync('gone');
  expect(await vanishing(first.run_id)).toEqual([]);
  expect(await vanishing(second.run_id)).toHaveLength(15);
  const accepted = await fleet.sync('gone', { accept_withdrawals: true });
  expect(await vanishing(accepted.run_id)).toEqual([]);
  expect(await vanishing(second.run_id)).toEqual([]);
  await fleet.sql`delete from sync_runs where application_id = 'gone'`;
  expect(await fleet.sql`select from vanishing_games where run_id = ${second.run_id}`).toHaveLength(0);
});

/** The id of a run that a process opens whose clock is a day ahead. */
const idOfTomorrow = (): string => {
  const ms = (Date.now() + 24 * 60 * 60_000).toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${randomUUID().slice(-12)}`;
};

it('A run that a process with a fast clock opened is not the latest once another run has begun', async () => {
  const { server } = await fleet.addApplication('fast-clock', 30);
  await fleet.sync('fast-clock');
  const removed = server.games.all().slice(0, 20);
  for (const { game_id } of removed) server.games.remove(game_id);
  const { run } = await openRun(fleet.sql, {
    run_id: idOfTomorrow(),
    application_id: 'fast-clock',
    trigger: 'manual',
    full: false,
    accept_withdrawals: false,
  });
  await enqueueNextPage(fleet.producer, run);
  expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'suspect' });
  for (const game of removed) server.games.add(game);
  const later = await fleet.sync('fast-clock');
  expect(later).toMatchObject({ outcome: 'succeeded', listed: 30 });
  expect(later.run_id < run.run_id).toBe(true);
  await expect(acceptWithdrawals(fleet.sql, run.run_id, undefined, KIM)).rejects.toThrow(
    'A later run of fast-clock has begun',
  );
  expect(await findLaterRun(fleet.sql, run.run_id)).toBe(later.run_id);
  expect(await present('fast-clock')).toBe(30);
  const { rows } = await readPage(fleet.sql, runList, { application_id: 'fast-clock' }, { limit: 2 });
  expect(rows.map(({ run_id }) => run_id)).toEqual([later.run_id, run.run_id]);
  const applications = await readPage(fleet.sql, applicationList, { search: 'fast-clock' }, { limit: 1 });
  expect(applications.rows[0]).toMatchObject({ last_run_id: later.run_id, last_outcome: 'succeeded' });
});

it('The games of a suspect run are forgotten when a later run reads the whole list', async () => {
  const { server } = await fleet.addApplication('back-again', 30);
  await fleet.sync('back-again');
  const removed = server.games.all().slice(0, 20);
  for (const { game_id } of removed) server.games.remove(game_id);
  const run = await fleet.sync('back-again');
  expect(await vanishing(run.run_id)).toHaveLength(20);
  for (const game of removed) server.games.add(game);
  await fleet.sync('back-again');
  expect(await vanishing(run.run_id)).toEqual([]);
});

it('Accepted withdrawals may take longer than another statement', async () => {
  const { server } = await fleet.addApplication('large', 30);
  await fleet.sync('large');
  for (const { game_id } of server.games.all().slice(0, 20)) server.games.remove(game_id);
  const { run_id } = await fleet.sync('large');
  const [game] = await vanishing(run_id);
  const statementMs = 1_000;
  await using stack = new AsyncDisposableStack();
  const sql = openDatabase(fleet.databaseUrl, { max: 1, statementMs, applicationName: 'impatient' });
  stack.defer(() => sql.end());
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const locking = fleet.sql.begin(async (tx) => {
    await tx`select from games where game_id = ${game?.game_id ?? ''} for update`;
    locked.resolve();
    await released;
  });
  await locked.promise;
  let hasEnded = false;
  const accepting = acceptWithdrawals(sql, run_id, undefined, KIM)
    .catch((error: unknown) => error)
    .finally(() => {
      hasEnded = true;
    });
  await until('it waits longer than a statement may', async () => {
    const rows = await fleet.sql`
      select from pg_stat_activity
      where application_name = 'impatient' and wait_event_type = 'Lock'
        and clock_timestamp() > query_start + ${2 * statementMs} * interval '1 ms'`;
    return hasEnded || rows.length === 1;
  });
  release();
  await locking;
  expect(await accepting).toHaveLength(20);
});

it('Two people who look at one game see each other, until one of them leaves', async () => {
  const game_id = randomUUID();
  expect(await recordViewer(fleet.sql, game_id, 'kim', 1)).toEqual([]);
  expect(await recordViewer(fleet.sql, game_id, 'lee', 1)).toEqual(['kim']);
  expect(await recordViewer(fleet.sql, game_id, 'kim', 1)).toEqual(['lee']);
  expect(await recordViewer(fleet.sql, randomUUID(), 'kim', 1)).toEqual([]);
  await fleet.sql`update game_viewers set seen_at = now() - interval '2 minutes' where viewer = 'lee'`;
  expect(await recordViewer(fleet.sql, game_id, 'kim', 1)).toEqual([]);
  // The row says for a day that lee has opened the game.
  expect(await fleet.sql`select from game_viewers where viewer = 'lee'`).toHaveLength(1);
  await fleet.sql`update game_viewers set seen_at = now() - interval '25 hours' where viewer = 'lee'`;
  expect(await recordViewer(fleet.sql, game_id, 'kim', 1)).toEqual([]);
  expect(await fleet.sql`select from game_viewers where viewer = 'lee'`).toHaveLength(0);
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => recordViewer(fleet.sql, game_id, `viewer ${n % 7}`, 1)),
  );
  expect(await recordViewer(fleet.sql, game_id, 'kim', 1)).toHaveLength(7);
});
