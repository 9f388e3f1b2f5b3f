import { afterAll, expect, test } from 'vitest';
import { SCHEDULES } from '#src/contract/words.ts';
import { tick } from '#src/ingest/specs.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { scheduled } from '#test/fleet/schedules.ts';
import { openWorld } from '#test/fleet/world.ts';
import { openProducer } from '#test/fleet/world-runs.ts';
import { until } from '#test/support/until.ts';

const REFUSED_MS = 10_000;

const open = new AsyncDisposableStack();
afterAll(() => open.disposeAsync());

test.skipIf(withoutRedis('refused ticks'))(
  'ticks that meet a Postgres that refuses connections for ten seconds open their run and pull their KYC record',
  async () => {
    const world = open.use(await openWorld(sharedGround(), { applications: 1, games: 5 }));
    const worker = await world.startWorker();
    await scheduled(world);
    const { producer } = open.use(openProducer(world.databaseUrl, world.queue.redisUrl));
    world.toPostgres.cut({ refuse: true });
    const refusedAt = performance.now();
    for (const schedule of SCHEDULES) await producer.add(tick, { application_id: 'app-0', schedule });
    const failed = () => worker.log().match(/"job":"tick".*"attempt":\d.*/g) ?? [];
    await until('ten seconds have passed, with failed attempts of both ticks', () => {
      const titles = ['games', 'kyc'].every((name) =>
        failed().some((line) => line.includes(`"schedule":"${name}"`)),
      );
      return titles && performance.now() - refusedAt > REFUSED_MS;
    });
    world.toPostgres.restore();
    await until('the run has ended and the record is stored', async () => {
      const rows = await world.sql<{ outcome: string; records: number }[]>`
        select outcome, (select count(*)::int from kyc_states) as records from sync_runs
        where trigger = 'schedule' and finished_at is not null`;
      return rows[0]?.outcome === 'succeeded' && rows[0].records === 1;
    });
    expect(world.crashes()).toBe(0);
  },
);
