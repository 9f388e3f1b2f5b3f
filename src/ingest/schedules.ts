import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
import { type Queryable, readClock } from '#db/client.ts';
import { listSchedules } from '#db/queries/applications.ts';
import { SCHEDULES, type Schedule } from '#src/contract/words.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

const HOUR_MS = 60 * 60_000;
/** Schedulers read, and applications compared, at a time. */
const PAGE = 1_000;
/** Changes under way at once: enough to fill the connection, few enough for everybody else's commands. */
const CHANGES_AT_ONCE = 200;
/** A tick that is this late is gone, unless it waits in its queue; this early, it is no tick of ours. */
const ASTRAY_MS = 60_000;

/**
 * Where in its interval an application ticks: from its id, so that applications that share an interval do not
 * fire together, and so that a healed schedule keeps its place. At least 1: BullMQ takes 0 for "now".
 */
export const tickOffset = (scheduler_id: string, everyMs: number): number =>
  1 + (createHash('sha256').update(scheduler_id).digest().readUInt32BE() % (everyMs - 1));

const schedulerId = (schedule: Schedule, application_id: string): string => `${schedule}.${application_id}`;

type Scheduler = { every: number | undefined; offset: number | undefined; lost: boolean };

/** Each tick begins a trace; without this one would go on for ever, tick after tick. */
const OWN_TRACE = { telemetry: { omitContext: true } };

/** What Bull's schedulers hold now, by id. */
const readSchedulers = async (queue: Queue, nowMs: number): Promise<Map<string, Scheduler>> => {
  const found = new Map<string, Scheduler>();
  for (let start = 0; ; start += PAGE) {
    const page = await queue.getJobSchedulers(start, start + PAGE - 1, true);
    const lost = await findLost(queue, page, nowMs);
    for (const { key, every, offset } of page) found.set(key, { every, offset, lost: lost.has(key) });
    if (page.length < PAGE) return found;
  }
};

/**
 * A scheduler lives from tick to tick: each adds the next. One whose tick was deleted (from Bull Board, by a
 * failover that lost writes) never ticks again, though it is still listed: its next moment stays in the past.
 * One whose ticks a worker took by a clock that runs ahead is silent until that clock's time has come: its next
 * moment is further away than its interval.
 */
const findLost = async (
  queue: Queue,
  page: readonly { key: string; next?: number; every?: number }[],
  nowMs: number,
): Promise<ReadonlySet<string>> => {
  const far = page.filter(({ next = 0, every = 0 }) => next > nowMs + every + ASTRAY_MS);
  const overdue = page.filter(({ next }) => next !== undefined && next < nowMs - ASTRAY_MS);
  const checked = overdue.map(async ({ key, next }) => {
    const state = await queue.getJobState(`repeat:${key}:${next}`);
    return state === 'unknown' || state === 'completed' || state === 'failed' ? [key] : [];
  });
  return new Set([...far.map(({ key }) => key), ...(await Promise.all(checked)).flat()]);
};

/** Run the changes, a bounded number at once: commands of one moment share a round trip. */
const inBatches = async (
  changes: readonly (() => Promise<unknown>)[],
  signal: AbortSignal,
): Promise<void> => {
  for (let start = 0; start < changes.length && !signal.aborted; start += CHANGES_AT_ONCE) {
    await Promise.all(changes.slice(start, start + CHANGES_AT_ONCE).map((change) => change()));
  }
};

const setScheduler = (ticks: Queue, schedule: Schedule, application_id: string, every: number) => {
  const id = schedulerId(schedule, application_id);
  const payload = { application_id, schedule };
  const opts = { removeOnComplete: { count: 100 }, removeOnFail: { count: 1_000 }, ...OWN_TRACE };
  const template = { name: tick.title(payload), data: payload, opts };
  return ticks.upsertJobScheduler(id, { every, offset: tickOffset(id, every) }, template);
};

/** Prune once an hour. Set only when it is not so already: a scheduler set over itself makes its tick anew. */
const schedulePruning = async (prunes: Queue, nowMs: number): Promise<void> => {
  const known = (await readSchedulers(prunes, nowMs)).get('prune');
  if (known?.every === HOUR_MS && known.offset === 1 && !known.lost) return;
  if (known?.lost) await prunes.removeJobScheduler('prune');
  const opts = { removeOnComplete: { count: 10 }, ...OWN_TRACE };
  await prunes.upsertJobScheduler('prune', { every: HOUR_MS, offset: 1 }, { name: 'prune', data: {}, opts });
};

/**
 * Make BullMQ's schedulers agree with the `applications` table. Schedulers are derived state: added, changed
 * and paused applications are followed, and a flushed Redis heals. Touches only what differs.
 * One caller at a time (`reconcile` holds the lock): two that set the same scheduler at the same moment leave two
 * of its ticks with the queue in Postgres.
 * @returns how many schedulers were set and removed
 */
export const reconcileSchedules = async (
  sql: Queryable,
  producer: Producer,
  signal: AbortSignal,
): Promise<{ set: number; removed: number }> => {
  const ticks = producer.queue(tick);
  const nowMs = (await readClock(sql))().getTime();
  const existing = await readSchedulers(ticks, nowMs);
  let set = 0;
  for (let after = ''; !signal.aborted; ) {
    const page = await listSchedules(sql, after, PAGE);
    const changes: (() => Promise<unknown>)[] = [];
    for (const { application_id, every_ms, kyc_every_ms } of page) {
      const intervals: Record<Schedule, number> = { games: every_ms, kyc: kyc_every_ms };
      for (const schedule of SCHEDULES) {
        const id = schedulerId(schedule, application_id);
        const every = intervals[schedule];
        const known = existing.get(id);
        existing.delete(id);
        if (known?.every === every && known.offset === tickOffset(id, every) && !known.lost) continue;
        changes.push(async () => {
          // What is set over a scheduler keeps its next moment.
          if (known?.lost) await ticks.removeJobScheduler(id);
          await setScheduler(ticks, schedule, application_id, every);
        });
      }
    }
    await inBatches(changes, signal);
    set += changes.length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.application_id;
  }
  if (signal.aborted) return { set, removed: 0 };
  const removals = [...existing.keys()].map((id) => () => ticks.removeJobScheduler(id));
  await inBatches(removals, signal);
  await schedulePruning(producer.queue(prune), nowMs);
  return { set, removed: removals.length };
};
