import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Queue } from 'bullmq';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { type Stuck, startLiveness } from '#src/queue/liveness.ts';
import { createProducer } from '#src/queue/producer.ts';
import { type Runner, startRunner } from '#src/queue/runner.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

/** More than a worker is given (liveness.ts). */
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

onBothBackends('A worker that takes none of the jobs that wait', (kind) => {
  /** Two workers and three jobs, of which `holdBack` lets one be taken. @returns what was found stuck. */
  const watchTwo = async (holdBack: (queue: Queue) => Promise<unknown>, untilStopped: boolean) => {
    await using stack = new AsyncDisposableStack();
    const fleet = await startTestFleet(kind);
    stack.defer(fleet.stop);
    const producer = createProducer(fleet.backend, [forOne], onError);
    stack.defer(producer.close);
    const queue = producer.queue(forOne);
    await holdBack(queue);
    for (let added = 0; added < 3; added += 1) await producer.add(forOne, { untilStopped });
    const runners = [1, 2].map(() => startRunner(fleet.backend, [forOneJob], fleet.deps, logger, onError));
    for (const runner of runners) stack.defer(() => runner.stop(0));
    const taken = () =>
      runners.flatMap((runner) => runner.loads()).reduce((sum, load) => sum + load.taken, 0);
    await until('one is taken', () => taken() === 1);

    const watch = async (runner: Pick<Runner, 'loads'>): Promise<Stuck | undefined> => {
      let canaries = 0;
      let stuck: Stuck | undefined;
      const liveness = startLiveness({
        worker_id: randomUUID(),
        backend: fleet.backend,
        producer,
        runner,
        onCanary: async () => {
          canaries += 1;
        },
        pingDatabase: async () => {},
        onStuck: (what) => {
          stuck = what;
        },
        logger,
        onError,
        canaryMs: 100,
      });
      await until('it was looked at often', () => stuck !== undefined || canaries > LOOKS);
      await liveness.stop();
      return stuck;
    };
    expect(await Promise.all(runners.map(watch))).toEqual([undefined, undefined]);
    expect(taken()).toBe(1);

    // Nothing holds the jobs back any more: the same look of a worker is now what it seems.
    await Promise.all(runners.map((runner) => runner.stop(0)));
    await Promise.all([queue.removeGlobalConcurrency(), queue.removeGlobalRateLimit()]);
    await queue.removeRateLimitKey();
    const idle = { name: forOne.name, inHand: 0, concurrency: 5, taken: 0 };
    expect(await watch({ loads: () => [idle] })).toEqual({ queue: forOne.name, inHand: 0 });
  };

  test('is not stuck while another has the one slot of the fleet', async () => {
    await watchTwo((queue) => queue.setGlobalConcurrency(1), true);
  });

  test('is not stuck while the fleet has taken what its rate allows', async () => {
    await watchTwo((queue) => queue.setGlobalRateLimit(1, 60_000), false);
  });
});
