/** When schedules tick: it depends on the id of the scheduler and the interval alone. */
import { createHash } from 'node:crypto';
import type { Schedule } from '#src/contract/words.ts';

/**
 * The offset of a scheduler's ticks in their interval, in milliseconds, derived from its id. Schedulers of the same
 * interval are spread over it, and a restored scheduler ticks at the same moments as before. At least 1, because BullMQ
 * takes 0 for "now".
 */
export const tickOffset = (scheduler_id: string, everyMs: number): number =>
  1 + (createHash('sha256').update(scheduler_id).digest().readUInt32BE() % (everyMs - 1));

export const schedulerId = (schedule: Schedule, application_id: string): string =>
  `${schedule}.${application_id}`;

/** Milliseconds from `nowMs` to the next tick of an active application. */
export const untilTick = (
  schedule: Schedule,
  application_id: string,
  everyMs: number,
  nowMs: number,
): number => {
  const sinceMs = (nowMs - tickOffset(schedulerId(schedule, application_id), everyMs)) % everyMs;
  return everyMs - sinceMs;
};
