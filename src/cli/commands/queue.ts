import type { Command } from '@commander-js/extra-typings';
import type { Queue } from 'bullmq';
import { changeQueues, retryFailedJobs } from '#src/actions/queues.ts';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { terminalColumns } from '#src/cli/kit/list-command.ts';
import { UsageError } from '#src/errors.ts';
import { queueList, workerList } from '#src/lists/queues.ts';
import { readFirst } from '#src/lists/read.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const SHOWN_MAX = 1_000;
const ONLY_QUEUE = ['[name]', 'only this queue'] as const;

const namesOf = (queues: readonly Queue[]): string[] => queues.map((queue) => queue.name);

/** @returns the queue of this name, or all queues */
const chooseQueues = ({ producer }: Foundation, name: string | undefined): Queue[] => {
  const queues = producer.queues();
  const chosen = queues.filter((queue) => name === undefined || queue.name === name);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`There is no queue "${name}". The queues are: ${namesOf(queues).join(', ')}.`);
};

/** Defines `queue pause` or `queue resume`. */
const defineChange = (queue: Command, name: 'pause' | 'resume', summary: string): void =>
  defineCommand(queue, name, {
    summary,
    examples: [`queue ${name}`, `queue ${name} query-game-detail`],
    parameters: (command) => command.argument(...ONLY_QUEUE),
    run: async ({ openQueues, out }, queueName) => {
      const foundation = await openQueues();
      const chosen = chooseQueues(foundation, queueName);
      await changeQueues(foundation.sql, commandLineActor(), name, chosen);
      const names = namesOf(chosen);
      const done = `${name}d`;
      out.answer({ [done]: names }, `Queues ${done}: ${names.join(', ')}.`);
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
    },
  });

  defineChange(queue, 'pause', 'start no new jobs of one queue, or of all; active jobs finish');
  defineChange(queue, 'resume', 'start the jobs of one queue, or of all, again');

  defineCommand(queue, 'retry-failed', {
    summary: 'move failed jobs back to their queue',
    details: 'Jobs of ended runs do nothing when they run again. Start a new run with sync.',
    examples: ['queue retry-failed', 'queue retry-failed query-cp-kyc'],
    parameters: (command) => command.argument(...ONLY_QUEUE),
    run: async ({ openQueues, out }, name) => {
      const foundation = await openQueues();
      const chosen = chooseQueues(foundation, name);
      const retried = await retryFailedJobs(foundation.sql, commandLineActor(), chosen);
      const lines = Object.entries(retried).map(([queueName, count]) => `${queueName}  ${count}`);
      out.answer({ retried }, ...lines);
    },
  });
};
