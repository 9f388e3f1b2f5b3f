import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { listSchedules } from '#db/queries/applications.ts';
import { prune } from '#jobs/prune.ts';
import { SCHEDULES, type Schedule, tick } from '#jobs/tick.ts';
import type { Producer } from '#src/queue/producer.ts';

const HOUR_MS = 60 * 60_000;
const PAGE = 1_000;

/**
 * Where in its interval an application ticks: from its id, so that applications that share an interval do not
 * fire together, and so that a healed schedule keeps its place. At least 1: BullMQ takes 0 for "now".
 */
export const tickOffset = (scheduler_id: string, everyMs: number): number =>
  1 + (createHash('sha256').update(scheduler_id).digest().readUInt32BE() % (everyMs - 1));

const schedulerId = (schedule: Schedule, application_id: string): string => `${schedule}.${application_id}`;

/** What Bull's schedulers hold now: scheduler id -> interval and offset. */
const readSchedulers = async (queue: Queue): Promise<Map<string, { every?: number; offset?: number }>> => {
  const found = new Map<string, { every?: number; offset?: number }>();
  for (let start = 0; ; start += PAGE) {
    const page = await queue.getJobSchedulers(start, start + PAGE - 1, true);
    for (const { key, every, offset } of page)
      found.set(key, { ...(every && { every }), ...(offset && { offset }) });
    if (page.length < PAGE) return found;
  }
};

/**
 * Make BullMQ's schedulers agree with the `applications` table. Schedulers are derived state: added, changed
 * and paused applications are followed, and a flushed Redis heals. Touches only what differs.
 * @returns how many schedulers were set and removed
 */
export const reconcileSchedules = async (
  sql: Database,
  producer: Producer,
  signal: AbortSignal,
): Promise<{ set: number; removed: number }> => {
  const ticks = producer.queue(tick);
  const existing = await readSchedulers(ticks);
  let set = 0;
  for (let after = ''; !signal.aborted; ) {
    const page = await listSchedules(sql, after, PAGE);
    for (const application of page) {
      const intervals: Record<Schedule, number> = {
        games: application.every_ms,
        kyc: application.kyc_every_ms,
      };
      for (const schedule of SCHEDULES) {
        const id = schedulerId(schedule, application.application_id);
        const every = intervals[schedule];
        const offset = tickOffset(id, every);
        const known = existing.get(id);
        existing.delete(id);
        if (known?.every === every && known.offset === offset) continue;
        const payload = { application_id: application.application_id, schedule };
        const opts = { removeOnComplete: { count: 100 }, removeOnFail: { count: 1_000 } };
        await ticks.upsertJobScheduler(
          id,
          { every, offset },
          { name: tick.title(payload), data: payload, opts },
        );
        set += 1;
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.application_id;
  }
  if (signal.aborted) return { set, removed: 0 };
  for (const id of existing.keys()) await ticks.removeJobScheduler(id);
  await producer
    .queue(prune)
    .upsertJobScheduler(
      'prune',
      { every: HOUR_MS, offset: 1 },
      { name: 'prune', data: {}, opts: { removeOnComplete: { count: 10 } } },
    );
  return { set, removed: existing.size };
};
