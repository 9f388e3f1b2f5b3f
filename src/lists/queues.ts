import type { Queue } from 'bullmq';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import { areTicksDue, listWorkerPage, listWorkerQueues } from '#db/queries/workers.ts';
import { counts, time } from '#src/contract/documents.ts';
import { explainWorkerQueues } from '#src/contract/worker-queues.ts';
import { coerceError, isOfAnotherProgram, safeMessage } from '#src/errors.ts';
import { timeOf } from '#src/lib/utc.ts';
import { countColumn } from '#src/lists/columns.ts';
import { defineList } from '#src/lists/list.ts';
import type { Producer } from '#src/queue/producer.ts';

const STATES = [
  'waiting',
  'prioritized',
  'active',
  'delayed',
  'waiting-children',
  'completed',
  'failed',
] as const;

/** A queue and its jobs by state. */
export type QueueItem = Record<(typeof STATES)[number], number> & {
  name: string;
  paused: boolean;
  /** Why the latest failed job failed, if one is kept. */
  last_error: string | null;
  last_failed_at: Date | null;
};

/** Characters of the error of a job. Ours are shorter; others may write to Redis. */
const ERROR_SHOWN = 200;

/** Bytes of the ids of failed jobs. The 5,000 that a queue keeps take 1 MB; reading an id of 8 MB ends the connection. */
const FAILED_BYTES_MAX = 4_000_000;

const countJobs = async (queue: Queue, { isTooLarge }: Producer): Promise<Omit<QueueItem, 'name'>> => {
  const [counts, paused] = await Promise.all([queue.getJobCounts(...STATES), queue.isPaused()]);
  const isLarge = await isTooLarge(queue, 'failed', FAILED_BYTES_MAX);
  const [id] = (counts.failed ?? 0) > 0 && !isLarge ? await queue.getRanges(['failed'], 0, 0) : [];
  if (isLarge || (id !== undefined && (await isTooLarge(queue, id))))
    return { ...countsOf(counts), paused, ...explainUnreadable('a job is too large') };
  const last = id === undefined ? undefined : await queue.getJob(id);
  return {
    ...countsOf(counts),
    paused,
    last_error: last?.failedReason?.slice(0, ERROR_SHOWN) ?? null,
    last_failed_at: timeOf(last?.finishedOn),
  };
};

const countsOf = (counts: Record<string, number>) =>
  Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0])) as Record<
    (typeof STATES)[number],
    number
  >;

const explainUnreadable = (why: string) => ({
  last_error: `It cannot be read (${why}): see who else writes to the queues.`,
  last_failed_at: null,
});

/** Describes a queue that cannot be read, because another program wrote its keys or jobs. The other queues are shown. */
const describeUnreadable = (thrown: unknown): Omit<QueueItem, 'name'> => {
  const error = coerceError(thrown);
  if (!isOfAnotherProgram(error)) throw error;
  return { ...countsOf({}), paused: false, ...explainUnreadable(safeMessage(error)) };
};

const readQueue = async (queue: Queue, producer: Producer): Promise<QueueItem> => ({
  name: queue.name,
  ...(await countJobs(queue, producer).catch(describeUnreadable)),
});

const readQueues = async (
  _sql: Database,
  _filter: object,
  { after, limit }: ListPage<'name'>,
  open: () => Promise<Producer>,
): Promise<Listed<QueueItem>> => {
  const producer = await open();
  const queues = producer.queues().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const rest = queues.filter(({ name }) => after === undefined || name > after[1]);
  const rows = await Promise.all(rest.slice(0, limit).map((queue) => readQueue(queue, producer)));
  const last = rest.length > limit ? rows.at(-1)?.name : undefined;
  return { rows, total: queues.length, next: last === undefined ? undefined : [last, last] };
};

/** The jobs that a narrow page says in words. */
const formatJobs = ({ waiting, prioritized, failed }: QueueItem): string | null => {
  const parts = [
    waiting + prioritized > 0 && `${waiting + prioritized} waiting`,
    failed > 0 && `${failed} failed`,
  ];
  return parts.filter(Boolean).join(', ') || null;
};

export const queueList = defineList({
  name: 'queue.list',
  nouns: ['queue', 'queues'],
  right: 'view',
  row: z.object({
    name: z.string(),
    paused: z.boolean(),
    ...counts(STATES).shape,
    last_error: z.string().nullable().describe('Why the latest failed job failed.'),
    last_failed_at: time.nullable(),
  }),
  filter: z.object({}),
  sorts: [],
  order: 'name',
  read: readQueues,
  columns: [
    { key: 'queue', value: (row) => row.name },
    { key: 'state', kind: 'status', value: ({ paused }) => (paused ? 'paused' : 'running') },
    {
      key: 'backlog',
      title: 'Waiting',
      kind: 'number',
      value: ({ waiting, prioritized }) => waiting + prioritized,
      on: 'page',
    },
    ...STATES.map((state) => ({
      ...countColumn(state),
      ...(state === 'active' && { width: 'medium' as const }),
      // Delayed jobs are due later, so no worker is late with them.
      ...(state === 'delayed' && { title: 'Due later', width: 'medium' as const }),
      ...(!['active', 'delayed', 'failed'].includes(state) && { on: 'terminal' as const }),
    })),
    { key: 'jobs', value: formatJobs, width: 'narrow', on: 'page' },
    { key: 'last_failed_at', title: 'Last failed', kind: 'age', width: 'wider' },
    { key: 'last_error', title: 'Last error', width: 'medium' },
  ],
  empty: 'There is no queue.',
});

/** Workers with a heartbeat. */
export const workerList = defineList({
  name: 'worker.list',
  nouns: ['worker', 'workers'],
  right: 'view',
  row: z.object({
    worker_id: z.guid(),
    host: z.string(),
    pid: z.int(),
    queue: z.string(),
    started_at: time,
    seen_at: time,
  }),
  filter: z.object({}),
  sorts: ['started_at'],
  order: 'started_at',
  read: (sql, _filter, page) => listWorkerPage(sql, page),
  columns: [
    { key: 'worker', value: ({ host, pid }) => `${host} ${pid}` },
    { key: 'queue', width: 'medium' },
    { key: 'started', kind: 'age', value: (row) => row.started_at, sort: 'started_at' },
    { key: 'seen', kind: 'age', value: (row) => row.seen_at },
  ],
  empty: 'No worker takes jobs: start one, or see its /readyz.',
});

/** The queue of jobs/tick.ts. */
const TICKS = 'tick';

const OTHER_QUEUE = [
  'Workers run, and this queue has no tick of any application:',
  'REDIS_URL or QUEUE_PREFIX of this process is not that of the workers, or the queue was emptied a moment ago.',
].join(' ');

/**
 * Explains why a queue without ticks is not the queue of the workers, because they keep a tick of each active application
 * in theirs, and have them again two minutes after it was emptied.
 * @returns what is wrong if this process uses another queue than the workers, or they use different ones
 */
export const explainOtherQueue = async (
  sql: Database,
  queues: readonly QueueItem[],
): Promise<string | undefined> => {
  const problem = explainWorkerQueues(await listWorkerQueues(sql));
  if (problem !== undefined) return problem;
  const ticks = queues.find(({ name }) => name === TICKS);
  if (ticks === undefined || ticks.waiting + ticks.prioritized + ticks.active + ticks.delayed > 0)
    return undefined;
  return (await areTicksDue(sql)) ? OTHER_QUEUE : undefined;
};
