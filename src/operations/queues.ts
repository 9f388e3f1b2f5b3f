/**
 * Changes to the queues. The audit entry is committed before the change, because a queue may be in Redis, so a failed
 * change is logged too.
 */

import type { Queue } from 'bullmq';
import { z } from 'zod';
import { count } from '#src/contract/documents.ts';
import { NotFoundError } from '#src/errors.ts';
import { type AuditNote, type Context, defineOperation } from '#src/operations/operation.ts';

/** Absent: every queue. */
const input = z.object({ name: z.string().optional() });
type Input = z.infer<typeof input>;

const chooseQueues = async ({ name }: Input, { producer }: Context): Promise<Queue[]> => {
  const queues = (await producer()).queues();
  const chosen = queues.filter((queue) => name === undefined || queue.name === name);
  if (chosen.length > 0) return chosen;
  throw new NotFoundError('queue', name ?? '');
};

const ofQueues = {
  right: 'manage_queues',
  input,
  subject: ({ name = '*' }: Input) => `queue:${name}`,
  run: (_: unknown, given: Input, context: Context) => chooseQueues(given, context),
  log: (queues: readonly Queue[]): AuditNote[] => queues.map(({ name }) => ({ subject: `queue:${name}` })),
} as const;

/** Changes each queue, also after one failed. @throws the first failure, once all were tried */
const changeEach = async (queues: readonly Queue[], change: (queue: Queue) => Promise<void>) => {
  const ended = await Promise.allSettled(queues.map(change));
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

const eachQueue = (change: (queue: Queue) => Promise<void>) => ({
  ...ofQueues,
  answer: z.object({ queues: z.array(z.string()) }),
  after: async (queues: readonly Queue[]) => {
    await changeEach(queues, change);
    return { queues: queues.map(({ name }) => name) };
  },
});

export const pauseQueues = defineOperation({
  name: 'queue.pause',
  title: 'Start no new jobs of a queue',
  ...eachQueue((queue) => queue.pause()),
});

export const resumeQueues = defineOperation({
  name: 'queue.resume',
  title: 'Start the jobs of a queue again',
  ...eachQueue((queue) => queue.resume()),
});

export const retryFailedJobs = defineOperation({
  name: 'queue.retry_failed',
  title: 'Move failed jobs back to their queue',
  answer: z.object({ retried: z.record(z.string(), count) }),
  ...ofQueues,
  after: async (queues) => {
    /** How many of each queue. */
    const retried: Record<string, number> = {};
    await changeEach(queues, async (queue) => {
      const { failed = 0 } = await queue.getJobCounts('failed');
      await queue.retryJobs({ state: 'failed' });
      retried[queue.name] = failed;
    });
    return { retried };
  },
});
