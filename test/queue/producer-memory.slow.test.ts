import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { QueueBackend } from '#src/queue/backend.ts';
import { defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';

const spec = defineSpec({
  name: 'pictures',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 0, concurrency: 1 },
  title: () => 'pictures',
});

/** Bytes of the heap that are in use after a full collection. */
const usedBytes = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
};

test('keys that are not asked for again take no memory for ever', async () => {
  // As a queue whose jobs are all merged into one that waits.
  const queue = { on: () => queue, add: async () => ({ id: 'waits' }) } as unknown as Queue;
  const backend = { kind: 'redis', createQueue: () => queue } as unknown as QueueBackend;
  const producer = createProducer(backend, [spec], () => {});
  const addKeys = async (from: number, to: number) => {
    for (let n = from; n < to; n += 1) await producer.add(spec, {}, { once: `${n}`.padStart(64, 'a') });
  };
  await addKeys(0, 100_000);
  const before = usedBytes();
  await addKeys(100_000, 300_000);
  // 200,000 keys take over 20 MB.
  expect((usedBytes() - before) / 2 ** 20).toBeLessThan(5);
});
