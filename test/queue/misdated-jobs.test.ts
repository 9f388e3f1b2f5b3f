import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { redateDelayedJobs } from '#src/queue/misdated-jobs.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';
import { WAITING } from '#src/rules/waiting.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;
const live = new AbortController().signal;
const logger = pino({ level: 'silent' });

const flaky = defineSpec({
  name: 'flaky',
  payload: z.object({}),
  options: { attempts: 2, backoffMs: 2_000, concurrency: 3 },
  title: () => 'flaky',
});

const ticks = { ...flaky, name: 'ticks' };

onBothBackends('A job that was delayed by a process whose clock was an hour ahead', (kind) => {
  const start = async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const producer = createProducer(fleet.backend, [flaky, ticks], () => {});
    onTestFinished(producer.close);
    let runs = 0;
    const job = defineJob(flaky, async () => {
      runs += 1;
      if (runs === 1) throw new Error('not yet');
      return {};
    });
    const run = (clock: typeof localClock) =>
      startRunner(fleet.backend, [job], undefined, clock, logger, () => {});
    const look = () => redateDelayedJobs(fleet.backend, producer, ticks, Date.now(), live, logger);
    return { producer, queue: producer.queue(flaky), run, runs: () => runs, look };
  };

  test('waits for its delay, not for the hour', async () => {
    const { producer, queue, run, runs, look } = await start();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
    onTestFinished(() => void vi.useRealTimers());
    const ahead = run(await openTrustedClock(async () => new Date()));
    const { id = '' } = await producer.add(flaky, {});
    await until('it waits for its second attempt', async () => (await queue.getJobState(id)) === 'delayed');
    await ahead.stop(1_000);
    vi.useRealTimers();

    expect(await look()).toBe(1);
    expect(await look()).toBe(0);
    const right = run(localClock);
    onTestFinished(() => right.stop(1_000));
    await until('it has ended', async () => (await queue.getJobState(id)) === 'completed');
    expect(runs()).toBe(2);
  });

  test('is told from one that waits as long as an application may ask for, and from ticks', async () => {
    const { producer, queue, look } = await start();
    await producer.add(flaky, {}, { delayMs: WAITING.retryAfterMaxMs });
    await producer.queue(ticks).upsertJobScheduler('daily', { every: 24 * HOUR_MS, offset: 1 });
    await queue.upsertJobScheduler('hourly', { every: 24 * HOUR_MS, offset: 1 });
    expect(await look()).toBe(0);
    for (let added = 0; added < 120; added += 1)
      await queue.add('misdated', {}, { timestamp: Date.now() + HOUR_MS, delay: 1_000 });
    expect(await look()).toBe(120);
    expect(await look()).toBe(0);
  });
});
