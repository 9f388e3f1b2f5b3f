import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIRST_SCHEDULE, reconcileSchedules } from '#src/ingest/schedules.ts';
import { deliverEvent, fetchPictures, prune, tick } from '#src/ingest/specs.ts';
import { redateDelayedJobs } from '#src/queue/misdated-jobs.ts';
import { onBothBackends, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

onBothBackends('schedulers that somebody wrote to the queues', (kind) => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startTestFleet(kind);
    await fleet.addApplication('acme', 1, { every_ms: 24 * 60 * 60_000 });
  });
  afterAll(() => fleet.stop());
  const reconcile = () =>
    reconcileSchedules(fleet.sql, fleet.producer, new AbortController().signal, FIRST_SCHEDULE);

  test('the reconciler sets one of ours again that names another application, or ends', async () => {
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
    const { next: _, iterationCount: _count, ...set } = (await ticks.getJobScheduler('games.acme')) ?? {};
    const { next: _next, iterationCount: _first, ...expected } = ours ?? {};
    expect(set).toEqual(expected);
    expect((await reconcile()).set).toBe(0);
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
