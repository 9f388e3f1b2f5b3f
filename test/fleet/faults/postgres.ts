import { grantRoles } from '#db/grant-roles.ts';
import { onlyRow } from '#db/rows.ts';
import { type Fault, isDetail, pause, twoWorkers, workerAt } from '#test/fleet/faults/fault.ts';
import { differences, lastingRows } from '#test/fleet/snapshot.ts';
import type { World } from '#test/fleet/world.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

const REFUSED_MS = 10_000;

/** postgres.js tells the end of a session that cut a statement once more: by the next session's first statement. It is heard here. */
const hearEnds = async ({ sql }: World): Promise<void> => {
  await until('Postgres answers', () =>
    sql`select`.then(
      () => true,
      () => false,
    ),
  );
  await Promise.allSettled(Array.from({ length: sql.options.max }, () => sql`select pg_sleep(0.1)`));
};

/** What becomes of Postgres. */
export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'Postgres restarted',
    mostCalls: 4,
    alone: true,
    inject: async (world) => {
      await twoWorkers(world);
      await world.ground.restartPostgres?.();
      await hearEnds(world);
    },
  },
  {
    // It ends every session, repeats its log, and empties the tables that are not logged: those of pages.
    name: 'a process of Postgres killed: it recovers as from a crash',
    mostCalls: 5,
    alone: true,
    inject: async (world) => {
      await twoWorkers(world);
      const { pid } = await onlyRow(world.sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
      process.kill(pid, 'SIGKILL');
      await hearEnds(world);
    },
    // A run whose pages are lost is abandoned, and another one follows.
    findWrong: async (world, expected) => {
      const all = world.applications.map(({ application_id }) => application_id);
      return differences(lastingRows(expected, all), lastingRows(await world.snapshot(), all));
    },
  },
  {
    name: 'Postgres unreachable',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.cut({ refuse: true });
      await pause(3_000);
      world.toPostgres.restore();
    },
  },
  {
    // Four attempts at a page's details take up to 20 s, five at a page of the list up to 37.
    name: 'Postgres unreachable for 22 seconds',
    mostCalls: 12,
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.cut({ refuse: true });
      await pause(22_000);
      world.toPostgres.restore();
    },
  },
  {
    name: 'connections cut in the middle of transactions',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      for (let cuts = 0; cuts < 10; cuts += 1) {
        await world.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'catalogue%'`;
        await pause(150);
      }
    },
  },
  {
    name: 'COMMIT sent and its reply lost',
    mostCalls: 4,
    inject: async (world) => {
      let lost = 0;
      world.toPostgres.watch({
        request: (chunk, memory) => {
          if (lost < 4 && /commit/i.test(chunk.toString('latin1'))) memory.committing = true;
          return 'pass';
        },
        reply: (_chunk, memory) => {
          if (memory.committing !== true || lost >= 4) return 'pass';
          lost += 1;
          return 'cut';
        },
      });
      await twoWorkers(world);
      await world.quiet();
      if (lost < 4) throw new Error(`only ${lost} replies were lost`);
    },
  },
  {
    name: "connections cut as each part of the queue asks for BullMQ's schema, once in its life",
    mostCalls: 3,
    on: 'postgres',
    inject: async (world) => {
      await world.startWorker();
      let cuts = 0;
      world.toPostgres.watch({
        request: (chunk) => {
          if (!chunk.toString('latin1').includes('min_client_version')) return 'pass';
          cuts += 1;
          return 'cut';
        },
      });
      await world.startRuns();
      await until('it has asked', () => cuts > 0);
      await pause(1_000);
      world.toPostgres.restore();
    },
  },
  {
    name: 'no connection to Postgres to be had but two',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.cut({ most: 2 });
      await pause(3_000);
      world.toPostgres.restore();
    },
  },
  {
    name: 'SIGTERM with calls in flight and Postgres down',
    mostCalls: 4,
    inject: async (world) => {
      const worker = await workerAt(world, isDetail);
      world.toPostgres.cut({ refuse: true });
      const { tookMs } = await worker.stop();
      if (tookMs > 20_000) throw new Error(`ended after ${Math.round(tookMs)} ms`);
      world.toPostgres.restore();
      world.first.release();
      await world.startWorker();
    },
  },
  {
    name: 'every connection to Postgres waits for a lock',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      await world.sql.begin(async (sql) => {
        await sql`lock table sync_runs`;
        await pause(4_000);
      });
    },
  },
  {
    name: 'Postgres says that its disk is full',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      // A statement a table: who locks two together may meet a worker that locks them the other way round.
      const { sql } = world;
      await sql`
        create function disk_full() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`;
      const tables = ['games', 'sync_run_pages'];
      for (const table of tables)
        await sql`create trigger disk_full before insert or update on ${sql(table)} execute function disk_full()`;
      await pause(2_000);
      for (const table of tables) await sql`drop trigger disk_full on ${sql(table)}`;
    },
  },
  {
    name: 'Postgres has no room left on its disk',
    mostCalls: 4,
    world: { smallDisk: true },
    // No checkpoint of its server ends while a disk is full, and other worlds' databases wait for them.
    alone: true,
    inject: async (world) => {
      await twoWorkers(world);
      await world.disk.fill();
      const refused =
        await world.sql`create table filler as select repeat(md5(n::text), 200) from generate_series(1, 1000) n`
          .then(() => undefined)
          .catch((error: { code?: string }) => error.code);
      if (refused !== '53100') throw new Error(`the disk is full, and Postgres says ${refused}`);
      await pause(3_000);
      await world.disk.free();
    },
  },
  {
    name: 'max_connections is reached: Postgres refuses every new session (53300)',
    mostCalls: 4,
    on: 'redis',
    world: { latencyMs: 200 },
    inject: async (world) => {
      // No limit applies to a superuser.
      const worker = urlOfRole(world.env.DATABASE_URL ?? '', 'worker');
      await grantRoles(world.sql, { worker });
      world.env.DATABASE_URL = worker;
      await twoWorkers(world);
      const { username, pathname } = new URL(worker);
      const limit = (sessions: number) =>
        world.sql.unsafe(`alter database ${pathname.slice(1)} connection limit ${sessions}`);
      await limit(1);
      await world.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = ${username}`;
      await pause(REFUSED_MS);
      await limit(-1);
    },
  },
  {
    name: 'VACUUM FULL of the tables of runs, again and again',
    mostCalls: 4,
    world: { latencyMs: 200 },
    inject: async (world) => {
      await twoWorkers(world);
      for (let passes = 0; passes < 10; passes += 1)
        for (const table of ['games', 'sync_run_pages', 'sync_runs', 'applications'])
          await world.sql`vacuum full ${world.sql(table)}`;
    },
  },
];
