import { once } from 'node:events';
import type { Queue } from 'bullmq';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { type Stuck, startLiveness } from '#src/queue/liveness.ts';
import { createProducer } from '#src/queue/producer.ts';
import { type Runner, startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

/** More looks than make a queue stuck (liveness.ts). */
const LOOKS = 10;

const logger = pino({ level: 'silent' });
const onError = () => {};

const forOne = defineSpec({
  name: 'for-one',
  payload: z.object({ untilStopped: z.boolean() }),
  options: { attempts: 1, backoffMs: 0, concurrency: 5 },
  title: () => 'for one',
});
const forOneJob = defineJob(forOne, async ({ untilStopped }, { signal }) => {
  // A worker that stops may have taken the job a moment later.
  if (untilStopped && !signal.aborted) await once(signal, 'abort');
  return {};
});

onBothBackends('A worker that takes no waiting job', (kind) => {
  /** Two workers and three jobs, of which `limit` lets one run. Expects that neither worker is found stuck. */
  const watchTwo = async (limit: (queue: Queue) => Promise<unknown>, untilStopped: boolean) => {
    await using stack = new AsyncDisposableStack();
    const fleet = await startTestFleet(kind);
    stack.defer(fleet.stop);
    const producer = createProducer(fleet.backend, [forOne], onError);
    stack.defer(producer.close);
    const queue = producer.queue(forOne);
    await limit(queue);
    for (let added = 0; added < 3; added += 1) await producer.add(forOne, { untilStopped });
    const runners = [1, 2].map(() =>
      startRunner(fleet.backend, [forOneJob], fleet.deps, localClock, logger, onError),
    );
    for (const runner of runners) stack.defer(() => runner.stop(0));
    const taken = () =>
      runners.flatMap((runner) => runner.loads()).reduce((sum, load) => sum + load.taken, 0);
    await until('one is taken', () => taken() === 1);

    const watch = async (runner: Pick<Runner, 'loads'>): Promise<Stuck | undefined> => {
      let looks = 0;
      let stuck: Stuck | undefined;
      const liveness = startLiveness({
        backend: fleet.backend,
        producer,
        runner: { ...runner, followClock: async () => {} },
        clock: localClock,
        recordHeartbeat: async () => {
          looks += 1;
        },
        onStuck: (what) => {
          stuck = what;
        },
        logger,
        checkMs: 100,
      });
      await until('it has looked often', () => stuck !== undefined || looks > LOOKS);
      await liveness.stop();
      return stuck;
    };
    expect(await Promise.all(runners.map(watch))).toEqual([undefined, undefined]);
    expect(taken()).toBe(1);

    // Without the limit, a worker in the same state is stuck.
    await Promise.all(runners.map((runner) => runner.stop(0)));
    await Promise.all([queue.removeGlobalConcurrency(), queue.removeGlobalRateLimit()]);
    await queue.removeRateLimitKey();
    const idle = { name: forOne.name, active: 0, concurrency: 5, taken: 0 };
    expect(await watch({ loads: () => [idle] })).toEqual({ queue: forOne.name, active: 0 });
  };

  test('is not stuck while another worker has the only slot of the fleet', async () => {
    await watchTwo((queue) => queue.setGlobalConcurrency(1), true);
  });

  test('is not stuck while the fleet is at its rate limit', async () => {
    await watchTwo((queue) => queue.setGlobalRateLimit(1, 60_000), false);
  });
});

test('a check that a silent server delayed records no heartbeat after the stop', async () => {
  const probed = Promise.withResolvers<void>();
  const seen: string[] = [];
  const liveness = startLiveness({
    backend: { kind: 'redis', probe: () => probed.promise },
    producer: { queue: () => ({}) as Queue },
    runner: { loads: () => [], followClock: async () => void seen.push('goes on') },
    clock: localClock,
    recordHeartbeat: async () => void seen.push('heartbeat'),
    onStuck: () => {},
    logger,
  });
  await liveness.stop();
  probed.resolve();
  await until('the check goes on', () => seen.length > 0);
  await new Promise(setImmediate);
  expect(seen).toEqual(['goes on']);
});
