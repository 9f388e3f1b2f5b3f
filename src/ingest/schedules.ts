import { isDeepStrictEqual } from 'node:util';
import type { JobSchedulerTemplateOptions } from 'bullmq';
import { type Queryable, readClock } from '#db/client.ts';
import { isUnpulledSince, listSchedules, type ScheduleRow } from '#db/queries/applications.ts';
import type { Schedule } from '#src/contract/words.ts';
import { findScheduleFault, type WatchedQueue, watchQueue } from '#src/ingest/schedule-faults.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { HOUR_MS } from '#src/lib/duration.ts';
import { timeOf } from '#src/lib/utc.ts';
import type { Producer } from '#src/queue/producer.ts';
import { schedulerId, tickOffset, untilTick } from '#src/rules/ticks.ts';

/** Applications read at a time. */
const PAGE = 1_000;
/** Schedulers that are looked up and changed concurrently: enough to share round trips, few enough not to delay workers. */
const CONCURRENCY = 50;
/** Schedulers that one pass looks up. A lookup costs Redis about 0.02 ms, a change 0.1 ms. */
const LOOKUPS_A_PASS = 50_000;
/** While more ticks than this wait, a pass ends, because it would slow the queue that the workers need. */
const BACKLOG_MAX = 1_000;
/** Each tick begins a new trace; otherwise one trace would grow from tick to tick. */
const OWN_TRACE = { telemetry: { omitContext: true } };

/** Where a pass continues: at the first scheduler of this schedule whose application id is greater than `after`. */
export type SchedulePosition = { schedule: Schedule; after: string };
export const FIRST_SCHEDULE: SchedulePosition = { schedule: 'games', after: '' };

export type ReconciledSchedules = {
  /** Schedulers that were set, that were removed, and that could not be set or removed. */
  set: number;
  removed: number;
  failed: number;
  /** Did this call reach the last scheduler? */
  isComplete: boolean;
  /** Where the next call continues; after a complete one, at the first scheduler. */
  next: SchedulePosition;
};

/**
 * Makes BullMQ's schedulers agree with the `applications` table. Schedulers are derived state, so a flushed Redis gets them
 * back, with the ticks that were due meanwhile. Looks up the schedulers of games, then those of KYC records, in the order
 * of application ids, and changes those that differ. A call ends early at `lookupsMax`, at `signal` and at a backlog of
 * ticks.
 *
 * Only one caller at a time (`reconcile` has a lock), because if the queue is in Postgres, setting the same scheduler twice
 * concurrently adds two ticks.
 * @param from `next` of the call before
 * @throws the error of the queue when it is down
 */
export const reconcileSchedules = async (
  sql: Queryable,
  producer: Producer,
  signal: AbortSignal,
  from: SchedulePosition = FIRST_SCHEDULE,
  lookupsMax = LOOKUPS_A_PASS,
): Promise<ReconciledSchedules> => {
  const now = (await readClock(sql))().getTime();
  const ticks = watchQueue(producer, tick, now, signal);
  const result: ReconciledSchedules = { set: 0, removed: 0, failed: 0, isComplete: false, next: from };
  if (!signal.aborted)
    await reconcileScheduler(watchQueue(producer, prune, now, signal), HOURLY_PRUNE).catch(() => {
      result.failed += 1;
    });
  let lookupsLeft = lookupsMax;
  while (lookupsLeft > 0 && !signal.aborted && (await ticks.queue.getWaitingCount()) <= BACKLOG_MAX) {
    const { schedule, after } = result.next;
    const rows = await listSchedules(sql, after, Math.min(PAGE, lookupsLeft));
    for (let start = 0; start < rows.length; start += CONCURRENCY) {
      const batch = rows.slice(start, start + CONCURRENCY);
      const changes = await Promise.allSettled(
        batch.map((row) =>
          reconcileScheduler(ticks, wantedTick(row, schedule, producer), () =>
            addMissedTick(sql, producer, row, schedule, now),
          ),
        ),
      );
      const failures = changes.filter((change) => change.status === 'rejected');
      // One scheduler that cannot be set does not stop the others. If several fail and none succeeds, the queue is down;
      // after a single one, `getWaitingCount` throws if it is.
      if (failures.length === batch.length && batch.length > 1) throw failures[0]?.reason;
      result.failed += failures.length;
      for (const change of changes)
        if (change.status === 'fulfilled' && change.value !== undefined) result[change.value] += 1;
      if (signal.aborted) return result;
      result.next = { schedule, after: batch.at(-1)?.application_id ?? after };
    }
    lookupsLeft -= rows.length;
    if (rows.length > 0) continue;
    if (schedule === 'kyc') return { ...result, isComplete: true, next: FIRST_SCHEDULE };
    result.next = { schedule: 'kyc', after: '' };
  }
  return result;
};

/** A scheduler as it should be. */
type Wanted = {
  id: string;
  /** Interval and offset, in milliseconds. Undefined: there should be no such scheduler. */
  timing: { every: number; offset: number } | undefined;
  template: { name: string; data: object; opts: JobSchedulerTemplateOptions };
};

const wantedTick = (
  { application_id, status, ...row }: ScheduleRow,
  schedule: Schedule,
  { keep, retry }: Producer,
): Wanted => {
  const id = schedulerId(schedule, application_id);
  const every = schedule === 'games' ? row.every_ms : row.kyc_every_ms;
  const payload = { application_id, schedule };
  return {
    id,
    timing: status === 'active' ? { every, offset: tickOffset(id, every) } : undefined,
    template: {
      name: tick.title(payload),
      data: payload,
      opts: { ...retry(tick), ...keep, ...OWN_TRACE },
    },
  };
};

/** Adds a tick if the queue lost the last one: the application was not pulled since that one was due. */
const addMissedTick = async (
  sql: Queryable,
  producer: Producer,
  { application_id, ...row }: ScheduleRow,
  schedule: Schedule,
  now: number,
): Promise<void> => {
  const every = schedule === 'games' ? row.every_ms : row.kyc_every_ms;
  const dueAt = new Date(now + untilTick(schedule, application_id, every, now) - every);
  if (await isUnpulledSince(sql, application_id, schedule, dueAt))
    await producer.add(tick, { application_id, schedule }, { once: schedulerId(schedule, application_id) });
};

const HOURLY_PRUNE: Wanted = {
  id: prune.name,
  timing: { every: HOUR_MS, offset: 1 },
  template: {
    name: prune.name,
    data: {},
    opts: { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 }, ...OWN_TRACE },
  },
};

/**
 * Sets or removes one scheduler if it differs. An unchanged one is not updated, because BullMQ would replace its next tick.
 * @param beforeSet runs before it is set, so that the next pass repeats both if this one is interrupted
 */
const reconcileScheduler = async (
  watched: WatchedQueue,
  { id, timing, template }: Wanted,
  beforeSet = async () => {},
): Promise<'set' | 'removed' | undefined> => {
  const { queue, isTooLarge } = watched;
  const existing = await queue.getJobScheduler(id).catch(async (error: unknown) => {
    if (!(await isTooLarge(queue, `repeat:${id}`))) throw error;
    await queue.removeJobScheduler(id);
    return undefined;
  });
  if (timing === undefined) return existing && (await queue.removeJobScheduler(id)) ? 'removed' : undefined;
  if (existing !== undefined) {
    const fault = await findScheduleFault(watched, existing);
    const { key: _, next: _next, iterationCount: _count, name, template: jobs, ...settings } = existing;
    // BullMQ leaves out a payload without fields.
    const agrees =
      isDeepStrictEqual(settings, timing) && isDeepStrictEqual({ name, data: {}, ...jobs }, template);
    if (agrees && fault === undefined) return undefined;
    // An update moves a late scheduler to its next tick. One that is ahead is not moved, so it is removed and created.
    if (fault === 'ahead') {
      await queue.removeJobScheduler(id);
      // A tick's job id contains its planned time. Ticks that ran too early must not block the ids of the next ones.
      await queue.clean(0, 0, 'completed');
    }
  }
  await beforeSet();
  await queue.upsertJobScheduler(id, timing, template);
  return 'set';
};

/** Reads when the games of an application are pulled next. @returns null if it has no schedule */
export const readNextTick = async (producer: Producer, application_id: string): Promise<Date | null> =>
  timeOf((await producer.queue(tick).getJobScheduler(schedulerId('games', application_id)))?.next);
