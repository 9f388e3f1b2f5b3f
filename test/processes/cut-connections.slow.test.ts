import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { setApplicationStatus } from '#db/queries/applications.ts';
import { tick } from '#src/ingest/specs.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { addApplication } from '#test/support/factories.ts';
import { createSmallFleet, type SmallFleet, withoutRedis } from '#test/support/small-fleet.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { until } from '#test/support/until.ts';

const CUTS = 100;
/** Connections of a pool that break at once: the smallest pool has two. */
const AT_ONCE = 2;

/** Moments of the first round trip of a connection: its startup message, the reply, its first statement, the reply. */
const MOMENTS = ['startup', 'startup reply', 'statement', 'statement reply'] as const;

/** Cuts the next two connections of each pool, at a given moment of its first round trip. */
const startCutter = (proxy: TcpProxy, pools: readonly string[]) => {
  const cuts = new Map(pools.map((pool) => [pool, 0]));
  const due = new Map<string, (typeof MOMENTS)[number][]>();
  const cut = (memory: Record<string, unknown>): 'cut' => {
    const pool = memory.pool as string;
    cuts.set(pool, (cuts.get(pool) ?? 0) + 1);
    memory.moment = undefined;
    return 'cut';
  };
  proxy.watch({
    request: (chunk, memory) => {
      const words = chunk.toString('latin1');
      if (memory.pool === undefined) {
        memory.pool = /application_name\0([^\0]+)/.exec(words)?.[1] ?? '';
        memory.moment = due.get(memory.pool as string)?.pop();
        return memory.moment === 'startup' ? cut(memory) : 'pass';
      }
      // A simple or a prepared statement; "p" is a password.
      const isStatement = /^[QP]/.test(words);
      if (isStatement && memory.moment === 'statement') return cut(memory);
      if (isStatement && memory.moment === 'statement reply') memory.hasAsked = true;
      return 'pass';
    },
    reply: (_chunk, memory) =>
      memory.moment === 'startup reply' || memory.hasAsked === true ? cut(memory) : 'pass',
  });
  return {
    /** Ends every connection, and cuts the next ones of each pool. */
    cutNext: (round: number): void => {
      const moment = MOMENTS[round % MOMENTS.length] ?? 'startup';
      for (const pool of pools) due.set(pool, Array(AT_ONCE).fill(moment));
      proxy.cut();
    },
    fewest: () => Math.min(...cuts.values()),
    /** A connection that was chosen and then sent nothing is not cut: another one is chosen. */
    cutInstead: (round: number, wanted: number): void => {
      const missed = pools.filter((pool) => due.get(pool)?.length === 0 && (cuts.get(pool) ?? 0) < wanted);
      for (const pool of missed) due.set(pool, [MOMENTS[round % MOMENTS.length] ?? 'startup']);
      if (missed.length > 0) proxy.cut();
    },
  };
};

describe.skipIf(withoutRedis())('A hundred connections that break in their first round trip', () => {
  let fleet: SmallFleet;
  beforeAll(async () => {
    fleet = await createSmallFleet();
    await fleet.run('migrate');
    const sql = openDatabase(fleet.env.DATABASE_URL ?? '', { max: 1 });
    await addApplication(sql, 'paused');
    await setApplicationStatus(sql, 'paused', 'paused');
    await sql.end();
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  /** A queue of its own for each role: the worker of another would take its jobs. */
  const openProducer = (prefix: string) =>
    openFoundation({ redisUrl: fleet.env.REDIS_URL, queuePrefix: prefix }, fleet.env.DATABASE_URL ?? '', {
      use: 'producer',
      name: 'test',
      maxConnections: 1,
      logger: pino({ level: 'silent' }),
    });

  test.concurrent.for([
    ['worker', ['catalogue worker', 'catalogue metrics']],
    ['api', ['catalogue api', 'catalogue metrics']],
    ['console', ['catalogue metrics']],
    ['up', ['catalogue worker', 'catalogue api', 'catalogue metrics']],
  ] as const)('end no %s', async ([role, pools]) => {
    await using proxy = await startProxy(() => Number(new URL(fleet.env.DATABASE_URL ?? '').port));
    const QUEUE_PREFIX = `{cut-connections-${role}}`;
    await using producing = openProducer(QUEUE_PREFIX);
    /** A job that reads one application: the statement of a worker. */
    const tickOnce = () =>
      producing.producer
        .queue(tick)
        .add(
          'tick',
          { application_id: 'paused', schedule: 'games' },
          { removeOnComplete: true, removeOnFail: true },
        );
    const started = await fleet.start(role, {
      DATABASE_URL: proxy.through(fleet.env.DATABASE_URL ?? ''),
      QUEUE_PREFIX,
    });
    const metrics = started.metrics.replace('/metrics', '');
    const answers = async () => (await fetch(`${metrics}/readyz`)).ok;
    await until(`${role} is ready`, answers);
    const cutter = startCutter(proxy, pools);
    for (let round = 0; cutter.fewest() < CUTS; round += 1) {
      const wanted = (round + 1) * AT_ONCE;
      cutter.cutNext(round);
      await until(`every pool of ${role} has lost ${wanted} connections`, async () => {
        if (started.process.exitCode() !== null) throw new Error(`${role} has ended:\n${started.log()}`);
        const provoke = () => [
          answers(),
          started.api && fetch(`${started.api}/readyz`),
          pools.includes('catalogue worker' as never) && tickOnce(),
        ];
        await Promise.all(Array.from({ length: AT_ONCE }, provoke).flat());
        cutter.cutInstead(round, wanted);
        return cutter.fewest() >= wanted;
      });
    }
    await until(`${role} is ready again`, answers);
    expect(started.process.exitCode()).toBeNull();
  });
});
