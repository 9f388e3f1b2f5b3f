import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
import { type Queryable, readClock } from '#db/client.ts';
import { listSchedules } from '#db/queries/applications.ts';
import { SCHEDULES, type Schedule } from '#src/contract/words.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

const HOUR_MS = 60 * 60_000;
/** Schedulers, and applications, read at a time. */
const PAGE = 1_000;
/** Changes in flight: they share round trips and leave room for the commands of others. */
const CHANGES_AT_ONCE = 200;
/** A tick this late is lost, unless it waits in its queue; one this far beyond its interval is not ours. */
const LOST_MS = 60_000;

/** Each tick begins a trace of its own; otherwise one trace would grow from tick to tick. */
const OWN_TRACE = { telemetry: { omitContext: true } };

/**
 * Make BullMQ's schedulers agree with the `applications` table: schedulers are derived state, and a flushed Redis gets
 * them back. Changes only what differs. One caller at a time (`reconcile` holds a lock): setting a scheduler twice at
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
  const surplus = await readSchedulers(ticks, now);
  let set = 0;
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
        if (agrees(existing, wanted)) continue;
        changes.push(() => setScheduler(ticks, id, wanted, existing, tickTemplate(application_id, schedule)));
      }
    }
    await runChanges(changes, signal);
    set += changes.length;
    after = page.at(-1)?.application_id ?? after;
    isLast = page.length < PAGE;
  }
  if (signal.aborted) return { set, removed: 0 };
  await runChanges(
    [...surplus.keys()].map((id) => () => ticks.removeJobScheduler(id)),
    signal,
  );
  await schedulePruning(producer.queue(prune), now);
  return { set, removed: surplus.size };
};

/** Interval and offset of a scheduler, in milliseconds. */
type Timing = { every: number; offset: number };
type Scheduler = { every: number | undefined; offset: number | undefined; isLost: boolean };
type Template = Parameters<Queue['upsertJobScheduler']>[2];
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
  const opts = { removeOnComplete: { count: 100 }, removeOnFail: { count: 1_000 }, ...OWN_TRACE };
  return { name: tick.title(payload), data: payload, opts };
};

/** The queue's schedulers by id. */
const readSchedulers = async (queue: Queue, now: number): Promise<Map<string, Scheduler>> => {
  const found = new Map<string, Scheduler>();
  for (let start = 0; ; start += PAGE) {
    const page = await queue.getJobSchedulers(start, start + PAGE - 1, true);
    const lost = await findLost(queue, page, now);
    for (const { key, every, offset } of page) found.set(key, { every, offset, isLost: lost.has(key) });
    if (page.length < PAGE) return found;
  }
};

/**
 * Find schedulers that no longer tick. Each tick adds the next one: if a tick was deleted (on the board, by a failover
 * that lost writes), its scheduler stays listed with a moment in the past. If a worker whose clock is ahead took a
 * tick, the next moment is further away than the interval.
 */
const findLost = async (
  queue: Queue,
  page: readonly { key: string; next?: number; every?: number }[],
  now: number,
): Promise<ReadonlySet<string>> => {
  const far = page.filter(({ next = 0, every = 0 }) => next > now + every + LOST_MS);
  const overdue = page.filter(({ next }) => next !== undefined && next < now - LOST_MS);
  const checked = overdue.map(async ({ key, next }) => {
    const state = await queue.getJobState(`repeat:${key}:${next}`);
    return state === 'unknown' || state === 'completed' || state === 'failed' ? [key] : [];
  });
  return new Set([...far.map(({ key }) => key), ...(await Promise.all(checked)).flat()]);
};

const agrees = (existing: Scheduler | undefined, { every, offset }: Timing): boolean =>
  existing?.every === every && existing.offset === offset && !existing.isLost;

const setScheduler = async (
  queue: Queue,
  id: string,
  timing: Timing,
  existing: Scheduler | undefined,
  template: Template,
): Promise<void> => {
  // An update keeps the scheduler's next moment, so a lost one is removed first.
  if (existing?.isLost) await queue.removeJobScheduler(id);
  await queue.upsertJobScheduler(id, timing, template);
};

/** Prune once an hour. An update of an unchanged scheduler would make its tick again. */
const schedulePruning = async (queue: Queue, now: number): Promise<void> => {
  const existing = (await readSchedulers(queue, now)).get(prune.name);
  const hourly = { every: HOUR_MS, offset: 1 };
  if (agrees(existing, hourly)) return;
  const opts = { removeOnComplete: { count: 10 }, ...OWN_TRACE };
  await setScheduler(queue, prune.name, hourly, existing, { name: prune.name, data: {}, opts });
};

const runChanges = async (changes: readonly Change[], signal: AbortSignal): Promise<void> => {
  for (let start = 0; start < changes.length && !signal.aborted; start += CHANGES_AT_ONCE)
    await Promise.all(changes.slice(start, start + CHANGES_AT_ONCE).map((change) => change()));
};
