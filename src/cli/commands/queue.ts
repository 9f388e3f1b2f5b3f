import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';
import { terminalColumns } from '#src/cli/kit/list-command.ts';
import { explainOtherQueue, queueList, workerList } from '#src/lists/queues.ts';
import { readFirst } from '#src/lists/read.ts';

const SHOWN_MAX = 1_000;
const ONLY_QUEUE = ['[name]', 'only this queue'] as const;

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
      const sources = { sql, producer: async () => producer };
      const queues = await readFirst(queueList, sources, {}, SHOWN_MAX);
      const workers = await readFirst(workerList, sources, {}, SHOWN_MAX);
      out.document({ queues, workers });
      out.table(queues, terminalColumns(queueList));
      out.line();
      if (workers.length === 0) out.line(workerList.empty);
      else out.table(workers, terminalColumns(workerList));
      const problem = await explainOtherQueue(sql, queues);
      if (problem !== undefined) out.note(problem);
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
