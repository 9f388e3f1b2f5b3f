import type { Queue } from 'bullmq';
import { Gauge, type Registry } from 'prom-client';
import { cached } from '#src/metrics/cached.ts';
import type { QueueBackend } from '#src/queue/backend.ts';

/** Cached, because PostgreSQL counts jobs row by row. */
const COUNTS_MS = 5_000;
const WAIT_MS = 2_000;

/**
 * Adds the number of jobs in each queue, and whether the queue accepts writes. `bullmq_job_count` is the name of BullMQ's own
 * export, which promtool rejects because its headings repeat for each queue.
 * @param backend its `ping` rejects while the queue is unreachable, its `probe` also while it accepts no writes
 */
export const addQueueMetrics = (
  registry: Registry,
  queues: readonly Queue[],
  backend: Pick<QueueBackend, 'ping' | 'probe'>,
): void => {
  const registers = [registry];
  const answers = cached(0, WAIT_MS, () => backend.ping().then(() => true));
  const accepts = cached(0, WAIT_MS, () => backend.probe().then(() => true));
  const counts = cached(COUNTS_MS, WAIT_MS, () =>
    Promise.all(
      // Without those of a queue whose keys somebody gave another type.
      queues.map(async (queue) => ({
        queue: queue.name,
        jobs: await queue.getJobCounts().catch(() => ({})),
      })),
    ),
  );
  new Gauge({
    name: 'catalogue_queue_up',
    help: 'Whether the queue (Redis, or Postgres without it) accepts writes (1) or not (0).',
    registers,
    async collect() {
      this.set((await accepts()) === true ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bullmq_job_count',
    help: 'Jobs by queue and state.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      const facts = (await answers()) === true ? await counts() : undefined;
      this.reset();
      for (const { queue, jobs } of facts ?? []) {
        for (const [state, count] of Object.entries(jobs)) this.set({ queue, state }, count);
      }
    },
  });
};
