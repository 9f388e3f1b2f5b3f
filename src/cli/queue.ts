import type { Queue } from 'bullmq';
import type { Command } from 'commander';
import { listLiveWorkers } from '#db/queries/workers.ts';
import { withFoundation } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { formatMoment } from '#src/cli/values.ts';
import { UsageError } from '#src/errors.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const COUNTED = ['waiting', 'active', 'delayed', 'waiting-children', 'completed', 'failed'] as const;

const statusOf = async (queue: Queue) => {
  const [counts, paused] = await Promise.all([queue.getJobCounts(...COUNTED), queue.isPaused()]);
  return {
    name: queue.name,
    paused,
    ...Object.fromEntries(COUNTED.map((state) => [state, counts[state] ?? 0])),
  };
};

const choose = ({ producer }: Foundation, name: string | undefined): Queue[] => {
  const queues = producer.queues();
  if (name === undefined) return queues;
  const found = queues.find((queue) => queue.name === name);
  if (found !== undefined) return [found];
  throw new UsageError(
    `There is no queue "${name}": there are ${queues.map((queue) => queue.name).join(', ')}.`,
  );
};

const withNames = (command: Command): Command => command.argument('[name]', 'only this queue');

/** `catalogue queue …` */
export const register = (program: Command): void => {
  const queue = program.command('queue').description('Look at the queues, pause and resume them.');

  const status = defineCommand(queue, 'status', {
    summary: 'show the queues and the workers',
    examples: ['queue status', 'queue status --json'],
  });
  act(status, (context) =>
    withFoundation(context, async (foundation) => {
      const queues = await Promise.all(foundation.producer.queues().map(statusOf));
      const workers = await listLiveWorkers(foundation.sql);
      context.out.document({ queues, workers });
      context.out.table(queues, [
        { header: 'queue', value: (row) => row.name },
        ...COUNTED.map((state) => ({
          header: state,
          value: (row: Awaited<ReturnType<typeof statusOf>>) =>
            Number((row as Record<string, unknown>)[state]),
          right: true,
        })),
        { header: '', value: (row) => (row.paused ? 'paused' : '') },
      ]);
      context.out.line();
      if (workers.length === 0) context.out.line('No worker is running: npx catalogue worker');
      else {
        context.out.table(workers, [
          { header: 'worker', value: (row) => `${row.host} ${row.pid}` },
          { header: 'since', value: (row) => formatMoment(row.started_at) },
          { header: 'seen', value: (row) => formatMoment(row.seen_at) },
        ]);
      }
      return undefined;
    }),
  );

  const pause = withNames(
    defineCommand(queue, 'pause', {
      summary: 'take no new job from a queue, or from all; those in hand end',
      examples: ['queue pause', 'queue pause query-game-detail'],
    }),
  );
  act<[string | undefined], { json?: boolean }>(pause, (context, _options, name) =>
    withFoundation(context, async (foundation) => {
      const chosen = choose(foundation, name);
      for (const each of chosen) await each.pause();
      context.out.document({ paused: chosen.map((each) => each.name) });
      context.out.line(`Paused ${chosen.map((each) => each.name).join(', ')}.`);
      return undefined;
    }),
  );

  const resume = withNames(
    defineCommand(queue, 'resume', { summary: 'take jobs again', examples: ['queue resume'] }),
  );
  act<[string | undefined], { json?: boolean }>(resume, (context, _options, name) =>
    withFoundation(context, async (foundation) => {
      const chosen = choose(foundation, name);
      for (const each of chosen) await each.resume();
      context.out.document({ resumed: chosen.map((each) => each.name) });
      context.out.line(`Resumed ${chosen.map((each) => each.name).join(', ')}.`);
      return undefined;
    }),
  );

  const retry = withNames(
    defineCommand(queue, 'retry-failed', {
      summary: 'put failed jobs back into their queue',
      details: 'Jobs of runs that have ended do nothing when they run again; sync starts a new run.',
      examples: ['queue retry-failed', 'queue retry-failed query-cp-kyc'],
    }),
  );
  act<[string | undefined], { json?: boolean }>(retry, (context, _options, name) =>
    withFoundation(context, async (foundation) => {
      const retried: Record<string, number> = {};
      for (const each of choose(foundation, name)) {
        const { failed = 0 } = await each.getJobCounts('failed');
        await each.retryJobs({ state: 'failed' });
        retried[each.name] = failed;
      }
      context.out.document({ retried });
      for (const [queueName, count] of Object.entries(retried)) context.out.line(`${queueName}  ${count}`);
      return undefined;
    }),
  );
};
