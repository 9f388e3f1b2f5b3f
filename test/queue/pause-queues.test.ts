import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { jobSpecs, tick } from '#src/ingest/specs.ts';
import { operate } from '#src/operations/operate.ts';
import { pauseQueues } from '#src/operations/queues.ts';
import { useTestFleet } from '#test/support/fleet.ts';
import { KIM, testPlatform } from '#test/support/operate.ts';

const hasRedis = inject('redisUrl') !== null;
const fleet = useTestFleet(hasRedis ? 'redis' : 'postgres');

test.runIf(hasRedis)('a queue that cannot be paused leaves no other one running', async () => {
  const { producer } = fleet;
  const queue = producer.queue(tick);
  const key = queue.toKey('meta');
  await using use = new AsyncDisposableStack();
  const redis = use.adopt(new Redis(fleet.redisUrl ?? ''), (client) => client.disconnect());
  await redis.del(key);
  await redis.set(key, 'poisoned');
  const platform = testPlatform(fleet.sql, { producer: async () => producer });
  await expect(operate(pauseQueues, {}, KIM, platform)).rejects.toThrow('WRONGTYPE');
  const running = [];
  for (const each of producer.queues())
    if (each.name !== tick.name && !(await each.isPaused())) running.push(each.name);
  expect(running).toEqual([]);
  expect(producer.queues()).toHaveLength(jobSpecs.length);
});
