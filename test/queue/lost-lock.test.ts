import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { whenAborted } from '#src/egress/when-aborted.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const held = defineSpec({
  name: 'held',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 0, concurrency: 1 },
  title: () => 'held',
});

onBothBackends('A job whose lock is lost', (kind) => {
  test('is logged once with its id, and not as a failed job or an unreachable queue', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const producer = createProducer(fleet.backend, [held], () => {});
    onTestFinished(producer.close);
    const lines: string[] = [];
    const errors: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    let isCancelled = false;
    const job = defineJob(held, async (_payload, { signal }) => {
      await new Promise<void>((resolve) => whenAborted(signal, resolve));
      isCancelled = true;
      throw new Error('cancelled');
    });
    const runner = startRunner(
      fleet.backend,
      [job],
      undefined,
      localClock,
      logger,
      ({ message }) => void errors.push(message),
      { lockMs: 1_000 },
    );
    const { id = '' } = await producer.add(held, {});
    const queue = producer.queue(held);
    await until('it runs', async () => (await queue.getJobState(id)) === 'active');
    if (fleet.redisUrl === undefined) {
      await fleet.sql`update bullmq.job set lock_token = 'another' where queue = 'held' and id = ${id}`;
    } else {
      const redis = new Redis(fleet.redisUrl);
      onTestFinished(() => redis.disconnect());
      await redis.set(`${fleet.prefix}:held:${id}:lock`, 'another');
    }
    await until('it is cancelled', () => isCancelled);
    await runner.stop(1_000);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, job: 'held', job_id: id }),
    ]);
    expect(errors).toEqual([]);
  });
});
