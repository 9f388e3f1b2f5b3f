import { createHash } from 'node:crypto';
import type { JobSchedulerJson, JobSchedulerTemplateOptions, Queue } from 'bullmq';
import { type Queryable, readClock } from '#db/client.ts';
import { listSchedules, type ScheduleRow } from '#db/queries/applications.ts';
import type { Schedule } from '#src/contract/words.ts';
import { type QueuedState, readQueuedJobs } from '#src/ingest/queued-jobs.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { type Producer, retryOptions } from '#src/queue/producer.ts';

const HOUR_MS = 60 * 60_000;
/** Applications read at a time. */
const PAGE = 1_000;
/** Schedulers looked up and changed at a time: they share round trips and leave room for the commands of the workers. */
const AT_ONCE = 50;
/** Schedulers that one pass looks up. A lookup costs Redis about 0.02 ms, a change 0.1 ms. */
const LOOKUPS_A_PASS = 50_000;
/** While more ticks wait than this, schedules stay as they are: the workers need the queue. */
const BACKLOG = 1_000;
/** A tick this late is lost, unless it waits in its queue. */
const LOST_MS = 60_000;

/** Each tick begins a new trace; otherwise one trace would grow from tick to tick. */
const OWN_TRACE = { telemetry: { omitContext: true } };

/** The schedule and the application whose scheduler was looked up last. */
export type SchedulePosition = { schedule: Schedule; after: string };
export const FIRST_SCHEDULE: SchedulePosition = { schedule: 'games', after: '' };

/** Schedulers that were set, removed, or could not be; and where the next call continues: after the last at the first. */
export type ReconciledSchedules = { set: number; removed: number; failed: number; next: SchedulePosition };

/**
 * Make BullMQ's schedulers agree with the `applications` table: schedulers are derived state, and a flushed Redis gets
 * them back. Looks up the schedulers of games, then those of KYC records, in the order of their applications, and
 * changes what differs. One caller at a time (`reconcile` has a lock): setting a scheduler twice at once leaves two
 * ticks with the queue in Postgres.
 * @param from where the former call ended, at its `lookupsMax` or its `signal`: a fleet of any size makes progress
 */
export const reconcileSchedules = async (
  sql: Queryable,
  producer: Producer,
  signal: AbortSignal,
  from: SchedulePosition = FIRST_SCHEDULE,
  lookupsMax = LOOKUPS_A_PASS,
): Promise<ReconciledSchedules> => {
  const now = (await readClock(sql))().getTime();
  const ticks = watchQueue(producer.queue(tick), now, signal);
  const result: ReconciledSchedules = { set: 0, removed: 0, failed: 0, next: from };
  if (!signal.aborted) await reconcileScheduler(watchQueue(producer.queue(prune), now, signal), HOURLY_PRUNE);
  for (
    let left = lookupsMax;
    left > 0 && !signal.aborted && (await ticks.queue.getWaitingCount()) <= BACKLOG;
  ) {
    const { schedule, after } = result.next;
    const rows = await listSchedules(sql, after, Math.min(PAGE, left));
    for (let start = 0; start < rows.length; start += AT_ONCE) {
      const batch = rows.slice(start, start + AT_ONCE);
      const changes = await Promise.allSettled(
        batch.map((row) => reconcileScheduler(ticks, wantedTick(row, schedule))),
      );
      const failures = changes.filter((change) => change.status === 'rejected');
      // One scheduler that cannot be set does not stop the others; a queue that is down does.
      if (failures.length === batch.length) throw failures[0]?.reason;
      result.failed += failures.length;
      for (const change of changes)
        if (change.status === 'fulfilled' && change.value !== undefined) result[change.value] += 1;
      if (signal.aborted) return result;
      result.next = { schedule, after: batch.at(-1)?.application_id ?? after };
    }
    left -= rows.length;
    if (rows.length > 0) continue;
    if (schedule === 'kyc') return { ...result, next: FIRST_SCHEDULE };
    result.next = { schedule: 'kyc', after: '' };
  }
  return result;
};

/** A scheduler as it should be; without `timing` there should be none. */
type Wanted = {
  id: string;
  /** Interval and offset, in milliseconds. */
  timing: { every: number; offset: number } | undefined;
  template: { name: string; data: object; opts: JobSchedulerTemplateOptions };
};

/**
 * When in its interval an application ticks, from its id: applications that share an interval are spread over it, and
 * a restored scheduler keeps its place. At least 1, because BullMQ takes 0 for "now".
 */
export const tickOffset = (scheduler_id: string, everyMs: number): number =>
  1 + (createHash('sha256').update(scheduler_id).digest().readUInt32BE() % (everyMs - 1));

export const schedulerId = (schedule: Schedule, application_id: string): string =>
  `${schedule}.${application_id}`;

const wantedTick = ({ application_id, status, ...row }: ScheduleRow, schedule: Schedule): Wanted => {
  const id = schedulerId(schedule, application_id);
  const every = schedule === 'games' ? row.every_ms : row.kyc_every_ms;
  const payload = { application_id, schedule };
  const { attempts, backoff } = retryOptions(tick);
  const keep = { removeOnComplete: { count: 100 }, removeOnFail: { count: 1_000 } };
  return {
    id,
    timing: status === 'active' ? { every, offset: tickOffset(id, every) } : undefined,
    template: {
      name: tick.title(payload),
      data: payload,
      opts: { attempts, backoff, ...keep, ...OWN_TRACE },
    },
  };
};

const HOURLY_PRUNE: Wanted = {
  id: prune.name,
  timing: { every: HOUR_MS, offset: 1 },
  template: { name: prune.name, data: {}, opts: { removeOnComplete: { count: 10 }, ...OWN_TRACE } },
};

/** A queue during one pass: its unfinished jobs are read once, when a scheduler is late. */
type WatchedQueue = {
  queue: Queue;
  /** The database's clock at the start of the pass. */
  now: number;
  readJobs: () => Promise<ReadonlyMap<string, QueuedState>>;
  signal: AbortSignal;
};

const watchQueue = (queue: Queue, now: number, signal: AbortSignal): WatchedQueue => {
  let jobs: ReturnType<WatchedQueue['readJobs']> | undefined;
  const readJobs = () => {
    jobs ??= readQueuedJobs(queue, signal);
    return jobs;
  };
  return { queue, now, readJobs, signal };
};

/** Set or remove one scheduler if it differs. An update of an unchanged one would make its tick again. */
const reconcileScheduler = async (
  watched: WatchedQueue,
  { id, timing, template }: Wanted,
): Promise<'set' | 'removed' | undefined> => {
  const { queue } = watched;
  const existing = await queue.getJobScheduler(id);
  if (timing === undefined) return existing && (await queue.removeJobScheduler(id)) ? 'removed' : undefined;
  if (existing !== undefined) {
    const lost = await findLost(watched, existing);
    const { every, offset, template: found } = existing;
    const agrees =
      every === timing.every && offset === timing.offset && found?.opts?.attempts === template.opts.attempts;
    if (agrees && lost === undefined) return undefined;
    // An update moves a late scheduler to its next moment, but keeps a moment that is too far ahead.
    if (lost === 'ahead') {
      await queue.removeJobScheduler(id);
      // The ticks that ran ahead of their moments have the job ids of those moments.
      await queue.clean(0, 0, 'completed');
    }
  }
  await queue.upsertJobScheduler(id, timing, template);
  return 'set';
};

/**
 * Does this scheduler no longer tick? Each tick adds the next one: if a tick was deleted (on the board, by a failover
 * that lost writes), its scheduler keeps a moment in the past. If a worker whose clock is ahead took ticks, the next
 * moment is further away than two intervals; within two, one tick was promoted and the next one is in time.
 */
const findLost = async (
  { queue, now, readJobs, signal }: WatchedQueue,
  { key, next = now, every = 0 }: JobSchedulerJson,
): Promise<'late' | 'ahead' | undefined> => {
  if (next > now + 2 * every) return 'ahead';
  if (next >= now - LOST_MS || (await readJobs()).has(`repeat:${key}:${next}`)) return undefined;
  // It may have ticked while the jobs were read, and an aborted read is incomplete.
  return !signal.aborted && (await queue.getJobScheduler(key))?.next === next ? 'late' : undefined;
};

/** When the games of an application are due next. @returns null if it has no schedule */
export const readNextTick = async (producer: Producer, application_id: string): Promise<Date | null> => {
  const scheduler = await producer.queue(tick).getJobScheduler(schedulerId('games', application_id));
  return scheduler?.next === undefined ? null : new Date(scheduler.next);
};
