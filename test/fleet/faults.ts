import { fileURLToPath } from 'node:url';
import { stepId } from '#jobs/query-game-list.ts';
import { until } from '#test/support/until.ts';
import type { FleetApplication } from './application.ts';
import type { World, WorldOptions } from './world.ts';

/** Something that happens to a fleet in the middle of its runs. */
export type Fault = {
  name: string;
  /** Starts workers and runs, does its harm, and puts right what only the world outside can. */
  inject: (world: World) => Promise<void>;
  /** How often one page or game may be asked for: once, and once more for each time the work was torn away. */
  mostCalls: number;
  world?: WorldOptions;
  /** Brings down what other worlds stand on. */
  alone?: boolean;
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const isList = (page_num: number) => (call: { operation: string; page_num: number | undefined }) =>
  call.operation === 'query_game_list' && call.page_num === page_num;
const isDetail = (call: { operation: string }) => call.operation === 'query_game_detail';

/** A worker that is in the middle of a call of the first application, and runs of all. */
const workerAt = async (world: World, at: Parameters<FleetApplication['hold']>[0]) => {
  world.first.hold(at);
  const worker = await world.startWorker();
  await world.startRuns();
  await world.first.held(1);
  return worker;
};

/** What the first application's run has committed. */
const progress = async ({ sql }: World) => {
  const rows = await sql<{ run_id: string; fence: number; next_page: number; open: number }[]>`
    select r.run_id, r.fence, r.next_page, coalesce(sum((select count(*) from jsonb_object_keys(p.open_games))), 0)::int as open
    from sync_runs r left join sync_run_pages p using (run_id)
    where r.application_id = 'app-0' and r.finished_at is null group by 1, 2, 3`;
  return rows[0];
};

/** Runs are under way: some of the games have been asked for. */
const underWay = (world: World) =>
  until('the runs are under way', async () => {
    const [row] = await world.sql<{ pages: number }[]>`
      select count(*)::int as pages from sync_run_pages p join sync_runs r using (run_id) where r.finished_at is null`;
    return (row?.pages ?? 0) >= 2;
  });

const twoWorkers = async (world: World) => {
  await Promise.all([world.startWorker(), world.startWorker()]);
  await world.startRuns();
  await underWay(world);
};

const killAt = (at: Parameters<FleetApplication['hold']>[0]) => async (world: World) => {
  const worker = await workerAt(world, at);
  const [, other] = await Promise.all([worker.kill(), world.startWorker()]);
  world.first.release();
  return other;
};

/** Kill a worker that has committed, while its word of it is on the way to Redis. */
const killBeforeAcknowledgement =
  (at: Parameters<FleetApplication['hold']>[0], committed: (world: World) => Promise<boolean>) =>
  async (world: World) => {
    const worker = await workerAt(world, at);
    world.toRedis.pause();
    world.first.release();
    await until('the worker has committed', () => committed(world));
    await worker.kill();
    world.toRedis.resume();
    world.toRedis.cut();
    await world.startWorker();
  };

const CLOCK = fileURLToPath(new URL('./clock-ahead.ts', import.meta.url));

export const FAULTS: readonly Fault[] = [
  {
    name: 'SIGKILL of a worker during a list call',
    mostCalls: 2,
    inject: async (world) => void (await killAt(isList(1))(world)),
  },
  {
    name: 'SIGKILL of a worker during detail calls',
    mostCalls: 2,
    inject: async (world) => void (await killAt(isDetail)(world)),
  },
  {
    name: 'SIGKILL after the commit of a list page, before its acknowledgement',
    mostCalls: 2,
    inject: killBeforeAcknowledgement(isList(1), async (world) => (await progress(world))?.next_page === 2),
  },
  {
    name: 'SIGKILL after the commit of details, before their acknowledgement',
    mostCalls: 2,
    inject: killBeforeAcknowledgement(isDetail, async (world) => {
      const now = await progress(world);
      return now?.next_page === 2 && now.open === 0;
    }),
  },
  {
    name: 'SIGKILL twice on the same job',
    mostCalls: 3,
    inject: async (world) => {
      const first = await workerAt(world, isDetail);
      await first.kill();
      const second = await world.startWorker();
      await world.first.held(2);
      // The first worker's call is still among them: wait for one that the second made.
      await until('the second worker asks as well', () => world.mostCalls().count >= 2);
      await second.kill();
      await world.startWorker();
      world.first.release();
    },
  },
  {
    name: 'SIGSTOP for longer than the lock, then SIGCONT',
    mostCalls: 2,
    inject: async (world) => {
      const zombie = await workerAt(world, isDetail);
      zombie.signal('SIGSTOP');
      await world.startWorker();
      // Its calls are answered now: it finds the answers when it wakes.
      world.first.release();
      await world.quiet();
      const versions = () => world.sql`select game_id, xmin::text, ctid::text from games order by game_id`;
      const before = JSON.stringify(await versions());
      const asleep = await world.sql<
        { seen_at: Date }[]
      >`select seen_at from workers where pid = ${zombie.pid}`;
      zombie.signal('SIGCONT');
      // Postgres may have ended its session, and the driver the process with it (porsager/postgres#1208): a
      // supervisor's matter, as any other exit.
      let exited = false;
      zombie.exited.then(() => {
        exited = true;
      });
      await until('the zombie is awake, or has ended', async () => {
        const [row] = await world.sql<{ seen_at: Date }[]>`
          select seen_at from workers where pid = ${zombie.pid}`;
        return exited || (row !== undefined && row.seen_at > (asleep[0]?.seen_at ?? new Date()));
      });
      if (!exited) {
        const { code } = await zombie.stop();
        if (code !== 0) throw new Error(`the zombie ended with ${code}`);
      }
      if (JSON.stringify(await versions()) !== before) throw new Error('the zombie has written');
    },
  },
  {
    name: 'SIGTERM with calls in flight that do not end',
    mostCalls: 2,
    inject: async (world) => {
      const worker = await workerAt(world, isDetail);
      await world.startWorker();
      const { code, tookMs } = await worker.stop();
      if (code !== 0 || tookMs > 8_000) throw new Error(`ended with ${code} after ${Math.round(tookMs)} ms`);
      world.first.release();
    },
  },
  {
    name: 'SIGTERM with calls in flight and Redis away',
    mostCalls: 2,
    inject: async (world) => {
      const worker = await workerAt(world, isDetail);
      world.toRedis.cut({ refuse: true });
      const { tookMs } = await worker.stop();
      if (tookMs > 20_000) throw new Error(`ended after ${Math.round(tookMs)} ms`);
      world.toRedis.heal();
      world.first.release();
      await world.startWorker();
    },
  },
  {
    name: 'Redis restarted, with what it kept',
    mostCalls: 2,
    world: { redisArgs: ['--appendonly', 'yes', '--appendfsync', 'always'] },
    inject: async (world) => {
      await twoWorkers(world);
      await world.redisServer.end();
      await pause(500);
      await world.redisServer.start();
    },
  },
  {
    name: 'Redis killed, and empty when it comes back',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      await world.redisServer.end('SIGKILL');
      await world.redisServer.start();
    },
  },
  {
    name: 'Redis flushed',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      await world.redis.flushall();
    },
  },
  {
    name: 'Redis out of memory',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      await world.redis.config('SET', 'maxmemory', '1mb');
      await pause(3_000);
      await world.redis.config('SET', 'maxmemory', '0');
    },
  },
  {
    name: 'Redis unreachable',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      world.toRedis.cut({ refuse: true });
      await pause(4_000);
      world.toRedis.heal();
    },
  },
  {
    name: 'Redis silent: the network swallows everything',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      world.toRedis.pause();
      await pause(4_000);
      world.toRedis.resume();
    },
  },
  {
    name: 'Postgres restarted',
    mostCalls: 4,
    alone: true,
    inject: async (world) => {
      await twoWorkers(world);
      await world.ground.restartPostgres?.();
    },
  },
  {
    name: 'Postgres unreachable',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.cut({ refuse: true });
      await pause(3_000);
      world.toPostgres.heal();
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
    name: 'no connection to Postgres to be had but two',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.cut({ most: 2 });
      await pause(3_000);
      world.toPostgres.heal();
    },
  },
  {
    name: 'Postgres says that its disk is full',
    mostCalls: 4,
    inject: async (world) => {
      await twoWorkers(world);
      await world.sql.unsafe(`
        create function disk_full() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
        create trigger disk_full before insert or update on games execute function disk_full();
        create trigger disk_full before insert or update on sync_run_pages execute function disk_full()`);
      await pause(2_000);
      await world.sql.unsafe('drop function disk_full() cascade');
    },
  },
  {
    name: 'three workers start at once on a flushed Redis',
    mostCalls: 2,
    inject: async (world) => {
      await world.startRuns();
      await world.redis.flushall();
      await Promise.all([world.startWorker(), world.startWorker(), world.startWorker()]);
    },
  },
  {
    name: "a job whose payload this version can't read",
    mostCalls: 2,
    inject: async (world) => {
      await world.startRuns();
      const run = await progress(world);
      if (run === undefined) throw new Error('the run is open');
      const id = stepId(run, 1);
      await world.redis.hset(`{fleet}:query-game-list:${id}`, 'data', JSON.stringify({ run_id: run.run_id }));
      await world.startWorker();
    },
  },
  {
    name: "one worker's clock an hour ahead, another's an hour behind",
    mostCalls: 3,
    inject: async (world) => {
      const ahead = await world.startWorker({ preload: `${CLOCK}?1` });
      await world.startRuns();
      await underWay(world);
      await world.startWorker({ preload: `${CLOCK}?-1` });
      await ahead.kill();
    },
  },
];
