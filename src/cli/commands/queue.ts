import type { Command } from '@commander-js/extra-typings';
import type { Queue } from 'bullmq';
import { listLiveWorkers } from '#db/queries/workers.ts';
import { defineCommand } from '#src/cli/kit/command.ts';

const STATES = ['waiting', 'active', 'delayed', 'waiting-children', 'completed', 'failed'] as const;
type Counts = Record<(typeof STATES)[number], number>;

const ONLY_QUEUE = ['[name]', 'only this queue'] as const;

const readStatus = async (queue: Queue) => {
  const [counts, paused] = await Promise.all([queue.getJobCounts(...STATES), queue.isPaused()]);
  const byState = Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0])) as Counts;
  return { name: queue.name, paused, ...byState };
};

/** Defines `queue pause` or `queue resume`. */
const defineChange = (queue: Command, name: 'pause' | 'resume', summary: string): void =>
  defineCommand(queue, name, {
    summary,
    examples: [`queue ${name}`, `queue ${name} query-game-detail`],
    parameters: (command) => command.argument(...ONLY_QUEUE),
    run: async ({ operate, out }, queueName) => {
      const { pauseQueues, resumeQueues } = await import('#src/operations/queues.ts');
      const { queues } = await operate(name === 'pause' ? pauseQueues : resumeQueues, { name: queueName });
      const done = `${name}d`;
      out.answer({ [done]: queues }, `Queues ${done}: ${queues.join(', ')}.`);
    },
  });

/** `catalogue queue …` */
export const register = (program: Command): void => {
  const queue = program.command('queue');

  defineCommand(queue, 'status', {
    summary: 'show the queues and the workers',
    examples: ['queue status', 'queue status --json'],
    run: async ({ openQueues, out }) => {
      const { sql, producer } = await openQueues();
      const queues = await Promise.all(producer.queues().map(readStatus));
      const workers = await listLiveWorkers(sql);
      out.document({ queues, workers });
      out.table(queues, [['queue', 'name'], ...STATES, ['', (row) => (row.paused ? 'paused' : '')]]);
      out.line();
      if (workers.length === 0) out.line('No worker is running. Start one with: npx catalogue worker');
      else out.table(workers, [['worker', (row) => `${row.host} ${row.pid}`], 'started_at', 'seen_at']);
    },
  });

  defineChange(queue, 'pause', 'start no new jobs of one queue, or of all; active jobs finish');
  defineChange(queue, 'resume', 'start the jobs of one queue, or of all, again');

  defineCommand(queue, 'retry-failed', {
    summary: 'move failed jobs back to their queue',
    details: 'Jobs of ended runs do nothing when they run again. Start a new run with sync.',
    examples: ['queue retry-failed', 'queue retry-failed query-cp-kyc'],
    parameters: (command) => command.argument(...ONLY_QUEUE),
    run: async ({ operate, out }, name) => {
      const { retryFailedJobs } = await import('#src/operations/queues.ts');
      const { retried } = await operate(retryFailedJobs, { name });
      const lines = Object.entries(retried).map(([queueName, count]) => `${queueName}  ${count}`);
      out.answer({ retried }, ...lines);
    },
  });
};
