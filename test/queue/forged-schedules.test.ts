import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIRST_SCHEDULE, reconcileSchedules } from '#src/ingest/schedules.ts';
import { deliverEvent, fetchPictures, prune, recheckPictures, tick } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';
import { redateDelayedJobs } from '#src/queue/misdated-jobs.ts';
import { startRunner } from '#src/queue/runner.ts';
import { schedulerJobId } from '#src/queue/scheduled-jobs.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const YEARS_MS = 1_000 * 24 * 60 * 60_000;

onBothBackends('schedulers that somebody wrote to the queues', (kind) => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startTestFleet(kind);
    await fleet.addApplication('acme', 1, { every_ms: 24 * 60 * 60_000 });
  });
  afterAll(() => fleet.stop());
  const reconcile = () =>
    reconcileSchedules(fleet.sql, fleet.producer, new AbortController().signal, FIRST_SCHEDULE);

  /** Writes a count of ticks to which BullMQ cannot add one. */
  const forgeCount = ({ name }: { name: string }, id: string) =>
    fleet.backend.redis?.hset(`${fleet.prefix}:${name}:repeat:${id}`, 'ic', 'no number') ??
    fleet.sql`update bullmq.scheduler set iteration_count = 2147483647 where scheduler_id = ${id}`;

  test('the reconciler sets one of ours again that names another application, ends, or has another count', async () => {
    await reconcile();
    const ticks = fleet.producer.queue(tick);
    const ours = await ticks.getJobScheduler('games.acme');
    const timing = { every: ours?.every ?? 0, offset: ours?.offset ?? 0 };
    const { name = '', data, opts } = { name: ours?.name, ...ours?.template };
    const other = { application_id: 'globex', schedule: 'games' };
    await ticks.upsertJobScheduler('games.acme', timing, { name, data: other, opts: { ...opts } });
    expect((await reconcile()).set).toBe(1);
    await ticks.upsertJobScheduler('games.acme', { ...timing, limit: 2 }, { name, data, opts: { ...opts } });
    expect((await reconcile()).set).toBe(1);
    await forgeCount(tick, 'games.acme');
    expect((await reconcile()).set).toBe(1);
    const { next: _, iterationCount: _count, ...set } = (await ticks.getJobScheduler('games.acme')) ?? {};
    const { next: _next, iterationCount: _first, ...expected } = ours ?? {};
    expect(set).toEqual(expected);
    expect((await reconcile()).set).toBe(0);
  });

  test.each(['job', 'scheduler'] as const)(
    'a tick runs once it has stalled, if what somebody wrote to the %s keeps BullMQ from adding the next one',
    async (part) => {
      const { backend, producer, prefix, sql } = fleet;
      const id = `stuck-${part}`;
      const queue = producer.queue(recheckPictures);
      const job = await queue.upsertJobScheduler(id, { every: 60 * 60_000 }, { data: {} });
      const key = `${prefix}:${queue.name}`;
      const opts = JSON.stringify({ ...job?.opts, debounce: {} });
      if (part === 'job')
        await (backend.redis?.hset(`${key}:${job?.id}`, 'opts', opts) ??
          sql`update bullmq.job set opts = ${opts}::text::jsonb where id = ${job?.id ?? ''}`);
      else await forgeCount(queue, id);
      let ran = 0;
      const counts = defineJob(recheckPictures, async () => {
        ran += 1;
        return {};
      });
      const silent = pino({ level: 'silent' });
      const runner = startRunner(backend, [counts], undefined, localClock, silent, () => {}, {
        lockMs: 1_000,
      });
      await until('it runs', () => ran > 0, 20_000);
      await runner.stop(1_000);
    },
  );

  test('a tick that is due, and that somebody delayed for ever, runs, and a scheduler that waits for one is set again', async () => {
    await reconcile();
    const { backend, producer, prefix, sql } = fleet;
    const queue = producer.queue(tick);
    const setNext = (next: number) =>
      backend.redis?.zadd(`${prefix}:${tick.name}:repeat`, next, 'games.acme') ??
      sql`update bullmq.scheduler set next_run_ms = ${next} where scheduler_id = 'games.acme'`;
    const addLate = async (plannedAt: number): Promise<string> => {
      const jobId = schedulerJobId('games.acme', plannedAt);
      const { name, data } = { name: 'acme games', data: { application_id: 'acme', schedule: 'games' } };
      await queue.add(name, data, { jobId, delay: YEARS_MS });
      return jobId;
    };
    const now = Date.now();
    const ours = schedulerJobId('games.acme', (await queue.getJobScheduler('games.acme'))?.next ?? 0);
    const late = await addLate(now - 120_000);
    await setNext(now - 120_000);
    await reconcile();
    expect(await queue.getJobState(late)).toBe('waiting');
    await addLate(5);
    await setNext(now + YEARS_MS);
    await (await queue.getJob(ours))?.promote();
    expect((await reconcile()).set).toBe(1);
    expect((await queue.getJobScheduler('games.acme'))?.next).toBeLessThan(now + YEARS_MS);
  });

  test('a worker removes one that is none of ours, once it ticks', async () => {
    await fleet.startWorker();
    const of_acme = { application_id: 'acme', schedule: 'games' };
    for (const [spec, data] of [
      [tick, of_acme],
      [tick, { none: 'of ours' }],
      [prune, {}],
      [deliverEvent, { application_id: 'acme' }],
    ] as const) {
      const queue = fleet.producer.queue(spec);
      await queue.upsertJobScheduler('forged', { every: 1_000 }, { name: 'forged', data });
      await until(
        `${spec.name} is removed`,
        async () => (await queue.getJobScheduler('forged')) === undefined,
      );
    }
  });

  // In Postgres a delayed job is one row, so none is delayed and gone.
  test.skipIf(kind === 'postgres')(
    'delayed jobs that are gone do not keep a pass of the reconciler',
    async () => {
      const { backend, producer, prefix } = fleet;
      for (let index = 0; index < 100; index += 1)
        await backend.redis?.zadd(`${prefix}:${fetchPictures.name}:delayed`, '+inf', `gone${index}`);
      const signal = AbortSignal.timeout(5_000);
      await redateDelayedJobs(backend, producer, tick, Date.now(), signal, pino({ level: 'silent' }));
      expect(signal.aborted).toBe(false);
    },
  );
});
