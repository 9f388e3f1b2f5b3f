import { expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { fleetBackend, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

type RowCounts = { inserted: number; updated: number; deleted: number };

/** What Postgres counts of a table, once every other session has ended and reported what it did. */
const countsOf = async (sql: Database, table: string): Promise<RowCounts> => {
  await until('no other session is left', async () => {
    const others = await sql`
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
    return others.length === 0;
  });
  const [row] = await sql<RowCounts[]>`
    select n_tup_ins::int as inserted, n_tup_upd::int as updated, n_tup_del::int as deleted
    from pg_stat_user_tables where schemaname = 'public' and relname = ${table}`;
  if (row === undefined) throw new Error(`Postgres counts nothing of ${table}`);
  return row;
};

it('inserts each game once and updates no game row when a catalogue is synced twice, as Postgres counts it', async () => {
  const fleet: TestFleet = await startTestFleet(fleetBackend());
  onTestFinished(() => fleet.stop());
  await fleet.startWorker();
  const { server } = await fleet.addApplication('acme', 250);
  const runs = [await fleet.sync('acme'), await fleet.sync('acme')];
  expect(runs).toMatchObject([{ inserted: 250 }, { unchanged: 250 }]);
  expect(server.calls.query_game_detail).toBe(250);
  await fleet.disconnect();

  const own = openDatabase(fleet.databaseUrl, { max: 1, applicationName: 'row counts' });
  onTestFinished(() => own.end());
  expect(await countsOf(own, 'games')).toEqual({ inserted: 250, updated: 0, deleted: 0 });
  expect(await countsOf(own, 'game_revisions')).toEqual({ inserted: 250, updated: 0, deleted: 0 });
});
