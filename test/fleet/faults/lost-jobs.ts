import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestKycPull } from '#db/queries/kyc.ts';
import { insertRefreshes, requestGames } from '#db/queries/refreshes.ts';
import { type Fault, isDetail, pause, twoWorkers, underWay } from '#test/fleet/faults/fault.ts';
import type { World } from '#test/fleet/world.ts';
import { startFleetProcess } from '#test/support/fleet-process.ts';
import { until } from '#test/support/until.ts';

const WITHIN_MS = 5 * 60_000;
/** Of each application: games that it pings, and games that an operator pulls. */
const REQUESTED = 10;
const SILENT_MS = 20_000;
const TEN_MINUTES_MS = 10 * 60_000;
const APPEND_ONLY = ['--appendonly', 'yes', '--appendfsync', 'always'];
/** Of each application: games that it has removed (test/fleet/world.ts). */
const REMOVED = 3;
const ROLES = ['api', 'media', 'console', 'kyc-desk'];
const ANY_PORT = { API_PORT: '0', CONSOLE_PORT: '0', KYC_DESK_PORT: '0' };

/** Every application changes games that its list does not show; it pings a half, operators pull the others and its record. */
const requestAll = async ({ applications, sql }: World): Promise<void> => {
  for (const { application_id, games } of applications) {
    const ids = games
      .all()
      .slice(0, REQUESTED)
      .map(({ game_id }) => game_id);
    for (const game_id of ids) games.update(game_id, { game_info: `changed: ${game_id}` });
    await insertRefreshes(sql, application_id, ids.slice(REQUESTED / 2));
    await requestGames(sql, application_id, ids.slice(0, REQUESTED / 2));
    await requestKycPull(sql, application_id);
  }
};

const countUnserved = async ({ sql }: World): Promise<number> => {
  const rows = await sql`
    select application_id from refresh_requests union all
    select application_id from kyc_states where requested_at is not null`;
  return rows.length;
};

const findUnserved = async ({ applications, sql }: World): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { application_id } of applications) {
    const [row] = await sql<{ pulled: number }[]>`
      select count(*)::int as pulled from games
      where application_id = ${application_id} and game_desc = 'changed: ' || application_game_id`;
    if (row?.pulled !== REQUESTED)
      wrong.push(`${application_id}: ${row?.pulled} of ${REQUESTED} were pulled`);
  }
  return wrong;
};

/** Keeps a copy of the files of Redis. `restore` kills Redis, and starts it again from the copy. */
const keepFiles = async ({ redis: { server } }: World) => {
  const kept = await mkdtemp(join(tmpdir(), 'catalogue-aof-'));
  await cp(server.directory, kept, { recursive: true });
  return {
    restore: async () => {
      await server.end('SIGKILL');
      await rm(server.directory, { recursive: true });
      await cp(kept, server.directory, { recursive: true });
      await server.start();
    },
    [Symbol.asyncDispose]: () => rm(kept, { recursive: true }),
  };
};

/** What becomes of accepted requests, and of runs, if the queue forgets or returns to an earlier time. */
export const LOST_JOB_FAULTS: readonly Fault[] = [
  {
    name: 'the queue flushed before, while and after accepted pings and pulls are served',
    mostCalls: 6,
    inject: async (world) => {
      world.first.block(isDetail);
      await requestAll(world);
      await world.queue.flush();
      await world.startWorker();
      await world.first.blocked(1);
      await world.queue.flush();
      world.first.release();
      const before = await countUnserved(world);
      await until('a request is served', async () => (await countUnserved(world)) < before, WITHIN_MS);
      await world.queue.flush();
      await until('every request is served', async () => (await countUnserved(world)) === 0, WITHIN_MS);
    },
    findWrong: findUnserved,
  },
  {
    name: 'Redis starts again from an append-only file of before the runs',
    mostCalls: 4,
    on: 'redis',
    world: { redisArgs: APPEND_ONLY },
    inject: async (world) => {
      await using kept = await keepFiles(world);
      await twoWorkers(world);
      await underWay(world);
      await kept.restore();
    },
  },
  {
    name: 'Redis starts again from an append-only file of ten minutes ago, when other runs were open',
    mostCalls: 12,
    on: 'redis',
    world: { redisArgs: APPEND_ONLY, patient: true },
    inject: async (world) => {
      await twoWorkers(world);
      await using kept = await keepFiles(world);
      await world.quiet();
      await pause(TEN_MINUTES_MS);
      await world.startRuns();
      await underWay(world);
      await requestAll(world);
      await kept.restore();
      await until('every request is served', async () => (await countUnserved(world)) === 0, WITHIN_MS);
    },
    findWrong: async (world) => [
      ...(await findUnserved(world)),
      ...(await world.sql`
        select application_id, outcome, reason from sync_runs where outcome <> 'succeeded'
        union all
        select application_id, 'withdrawn', count(*)::text from games where withdrawn_at is not null
        group by 1 having count(*) <> ${REMOVED}`.then((rows) => rows.map((row) => JSON.stringify(row)))),
    ],
  },
  {
    name: 'Redis silent while each process starts',
    mostCalls: 2,
    on: 'redis',
    world: { patient: true },
    inject: async (world) => {
      world.redis.server.signal('SIGSTOP');
      await Promise.all([
        world.startWorker({ waitUntilReady: false }),
        world.startWorker({ waitUntilReady: false }),
      ]);
      const starting = Promise.all(
        ROLES.map((role) => startFleetProcess(role, { ...world.env, ...ANY_PORT })),
      );
      starting.catch(() => {});
      await pause(SILENT_MS);
      world.redis.server.signal('SIGCONT');
      const roles = await starting;
      try {
        for (const { metrics } of roles)
          await until(
            `${metrics} is ready`,
            async () => (await fetch(new URL('/readyz', metrics)).catch(() => undefined))?.ok === true,
            WITHIN_MS,
          );
      } finally {
        await Promise.all(roles.map((role) => role.stop()));
      }
      await world.startRuns();
      await requestAll(world);
      await until('every request is served', async () => (await countUnserved(world)) === 0, WITHIN_MS);
    },
    findWrong: findUnserved,
  },
];
