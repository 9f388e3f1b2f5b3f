import { createHash } from 'node:crypto';
import type { JobSchedulerJson, JobSchedulerTemplateOptions, Queue } from 'bullmq';
import { type Queryable, readClock } from '#db/client.ts';
import { listSchedules } from '#db/queries/applications.ts';
import { SCHEDULES, type Schedule } from '#src/contract/words.ts';
import { type QueuedState, readQueuedJobs } from '#src/ingest/queued-jobs.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { type Producer, retryOptions } from '#src/queue/producer.ts';

const HOUR_MS = 60 * 60_000;
/** Applications read at a time. */
const PAGE = 1_000;
/** Schedulers read, or changed, at a time: they share round trips and leave room for the commands of the workers. */
const READ_AT_ONCE = 200;
const CHANGES_AT_ONCE = 50;
/** While more ticks wait than this, schedules stay as they are: the workers need the queue. */
const BACKLOG = 1_000;
/** A tick this late is lost, unless it waits in its queue; one this far beyond its interval is not ours. */
const LOST_MS = 60_000;

/** Each tick begins a new trace; otherwise one trace would grow from tick to tick. */
const OWN_TRACE = { telemetry: { omitContext: true } };

/**
 * Make BullMQ's schedulers agree with the `applications` table: schedulers are derived state, and a flushed Redis gets
 * them back. Changes only what differs. One caller at a time (`reconcile` has a lock): setting a scheduler twice at
 * once leaves two ticks with the queue in Postgres.
 * @returns how many schedulers were set and removed
 */
export const reconcileSchedules = async (
  sql: Queryable,
  producer: Producer,
  signal: AbortSignal,
): Promise<{ set: number; removed: number }> => {
  const ticks = producer.queue(tick);
  const now = (await readClock(sql))().getTime();
  const counts = { set: 0, removed: 0 };
  const surplus = await readSchedulers(ticks, now, signal);
  if (surplus === undefined) return counts;
  let after = '';
  for (let isLast = false; !isLast && !signal.aborted; ) {
    const page = await listSchedules(sql, after, PAGE);
    const changes: Change[] = [];
    for (const { application_id, every_ms, kyc_every_ms } of page) {
      const intervals: Record<Schedule, number> = { games: every_ms, kyc: kyc_every_ms };
      for (const schedule of SCHEDULES) {
        const id = schedulerId(schedule, application_id);
        const wanted = { every: intervals[schedule], offset: tickOffset(id, intervals[schedule]) };
        const existing = surplus.get(id);
        surplus.delete(id);
        const template = tickTemplate(application_id, schedule);
        if (agrees(existing, wanted, template)) continue;
        changes.push(async () => {
          if (await setScheduler(ticks, id, wanted, existing, template)) counts.set += 1;
        });
      }
    }
    await runChanges(changes, signal);
    after = page.at(-1)?.application_id ?? after;
    isLast = page.length < PAGE;
  }
  if (signal.aborted) return counts;
  const removals = [...surplus.keys()].map(
    (id): Change =>
      async () => {
        await ticks.removeJobScheduler(id);
        counts.removed += 1;
      },
  );
  await runChanges(removals, signal);
  await schedulePruning(producer.queue(prune), now, signal);
  return counts;
};

/** Interval and offset of a scheduler, in milliseconds. */
type Timing = { every: number; offset: number };
type Scheduler = Partial<Timing> & {
  next: number | undefined;
  attempts: number | undefined;
  isLost: boolean;
};
type Template = { name: string; data: object; opts: JobSchedulerTemplateOptions };
type Change = () => Promise<unknown>;

/**
 * When in its interval an application ticks, from its id: applications that share an interval are spread over it, and
 * a restored scheduler keeps its place. At least 1, because BullMQ takes 0 for "now".
 */
export const tickOffset = (scheduler_id: string, everyMs: number): number =>
  1 + (createHash('sha256').update(scheduler_id).digest().readUInt32BE() % (everyMs - 1));

const schedulerId = (schedule: Schedule, application_id: string): string => `${schedule}.${application_id}`;

const tickTemplate = (application_id: string, schedule: Schedule): Template => {
  const payload = { application_id, schedule };
  const { attempts, backoff } = retryOptions(tick);
  const keep = { removeOnComplete: { count: 100 }, removeOnFail: { count: 1_000 } };
  const opts = { attempts, backoff, ...keep, ...OWN_TRACE };
  return { name: tick.title(payload), data: payload, opts };
};

/** The queue's schedulers by id; undefined in a backlog. One that ticks while they are read may be absent. */
const readSchedulers = async (
  queue: Queue,
  now: number,
  signal: AbortSignal,
): Promise<Map<string, Scheduler> | undefined> => {
  const found = new Map<string, Scheduler>();
  for (let start = 0; !signal.aborted; start += READ_AT_ONCE) {
    if ((await queue.getWaitingCount()) > BACKLOG) return undefined;
    const page = await queue.getJobSchedulers(start, start + READ_AT_ONCE - 1, true);
    for (const each of page) found.set(each.key, toScheduler(each));
    if (page.length < READ_AT_ONCE) break;
  }
  await markLost(queue, found, now, signal);
  return found;
};

const toScheduler = ({ every, offset, next, template }: JobSchedulerJson): Scheduler => ({
  every,
  offset,
  next,
  attempts: template?.opts?.attempts,
  isLost: false,
});

/**
 * Find schedulers that no longer tick. Each tick adds the next one: if a tick was deleted (on the board, by a failover
 * that lost writes), its scheduler stays listed with a moment in the past. If a worker whose clock is ahead took a
 * tick, the next moment is further away than the interval.
 */
const markLost = async (
  queue: Queue,
  schedulers: ReadonlyMap<string, Scheduler>,
  now: number,
  signal: AbortSignal,
): Promise<void> => {
  let jobs: ReadonlyMap<string, QueuedState> | undefined;
  for (const [id, scheduler] of schedulers) {
    const { next = now, every = 0 } = scheduler;
    const isOverdue = next < now - LOST_MS;
    if (isOverdue) jobs ??= await readQueuedJobs(queue, signal);
    scheduler.isLost =
      next > now + every + LOST_MS || (isOverdue && jobs?.has(`repeat:${id}:${next}`) === false);
  }
};

const agrees = (existing: Scheduler | undefined, { every, offset }: Timing, { opts }: Template): boolean =>
  existing?.every === every &&
  existing.offset === offset &&
  existing.attempts === opts.attempts &&
  !existing.isLost;

/** @returns false when the scheduler agrees by now: it ticked while the others were read */
const setScheduler = async (
  queue: Queue,
  id: string,
  timing: Timing,
  seen: Scheduler | undefined,
  template: Template,
): Promise<boolean> => {
  const current = await queue.getJobScheduler(id);
  const existing = current && toScheduler(current);
  const isLost = seen?.isLost === true && existing?.next === seen.next;
  if (!isLost && agrees(existing, timing, template)) return false;
  // An update keeps the scheduler's next moment, so a lost one is removed first.
  if (isLost) await queue.removeJobScheduler(id);
  await queue.upsertJobScheduler(id, timing, template);
  return true;
};

/** Prune once an hour. An update of an unchanged scheduler would make its tick again. */
const schedulePruning = async (queue: Queue, now: number, signal: AbortSignal): Promise<void> => {
  const existing = (await readSchedulers(queue, now, signal))?.get(prune.name);
  const hourly = { every: HOUR_MS, offset: 1 };
  const opts = { removeOnComplete: { count: 10 }, ...OWN_TRACE };
  const template = { name: prune.name, data: {}, opts };
  if (signal.aborted || agrees(existing, hourly, template)) return;
  await setScheduler(queue, prune.name, hourly, existing, template);
};

const runChanges = async (changes: readonly Change[], signal: AbortSignal): Promise<void> => {
  for (let start = 0; start < changes.length && !signal.aborted; start += CHANGES_AT_ONCE)
    await Promise.all(changes.slice(start, start + CHANGES_AT_ONCE).map((change) => change()));
};
