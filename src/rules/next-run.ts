/** When the next run of an application begins. */
import { dueAfter } from '#src/rules/backoff.ts';
import { untilTick } from '#src/rules/ticks.ts';

/** What the time depends on. */
export type Paced = { every_ms: number; next_attempt_at: Date | null };

/** Milliseconds from `nowMs` to the next run of an active application. */
export const untilNextRun = (
  application_id: string,
  { every_ms, next_attempt_at }: Paced,
  nowMs: number,
): number => {
  const fromMs = Math.max(nowMs, dueAfter(next_attempt_at, every_ms));
  return fromMs + untilTick('games', application_id, every_ms, fromMs) - nowMs;
};
