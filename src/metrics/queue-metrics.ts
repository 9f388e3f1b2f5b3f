import type { Queue } from 'bullmq';
import { Gauge, type Registry } from 'prom-client';
import { cached } from '#src/metrics/cached.ts';

/** On PostgreSQL jobs are counted row by row. */
const COUNTS_MS = 5_000;
const WAIT_MS = 2_000;

/**
 * Add the depths of the queues under the name that BullMQ's own export gives them (`bullmq_job_count`; its
 * text, one for each queue, repeats its headings, which Prometheus's tools refuse), and whether the queue
 * answers at all, asked anew at every scrape.
 * @param ping rejects while the queue can't be reached
 */
export const addQueueMetrics = (
  registry: Registry,
  queues: readonly Queue[],
  ping: () => Promise<void>,
): void => {
  const registers = [registry];
  const up = cached(0, WAIT_MS, async () => {
    await ping();
    return true;
  });
  const counts = cached(COUNTS_MS, WAIT_MS, () =>
    Promise.all(queues.map(async (queue) => ({ queue: queue.name, jobs: await queue.getJobCounts() }))),
  );
  new Gauge({
    name: 'catalogue_queue_up',
    help: 'Does the queue (Redis, or Postgres where there is none) answer (1) or not (0)?',
    registers,
    async collect() {
      this.set((await up()) === true ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bullmq_job_count',
    help: 'Number of jobs in the queue by state',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      const answer = (await up()) === true ? await counts() : undefined;
      this.reset();
      for (const { queue, jobs } of answer ?? []) {
        for (const [state, count] of Object.entries(jobs)) this.set({ queue, state }, count);
      }
    },
  });
};
