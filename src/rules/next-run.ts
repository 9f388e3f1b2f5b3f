/** When the next run of an application begins. */
import { dueAfter } from '#src/rules/backoff.ts';
import { untilTick } from '#src/rules/ticks.ts';

/** What the time depends on. */
export type Paced = { every_ms: number; next_attempt_at: Date | null };

type Scheduled = Paced & { application_id: string; status: string };

/** Milliseconds from `nowMs` to the next run of an active application. */
export const untilNextRun = (
  application_id: string,
  { every_ms, next_attempt_at }: Paced,
  nowMs: number,
): number => {
  const fromMs = Math.max(nowMs, dueAfter(next_attempt_at, every_ms));
  return fromMs + untilTick('games', application_id, every_ms, fromMs) - nowMs;
};

/** The time of the next run; null if the application is paused or removed. */
export const nextRunAt = (application: Scheduled | undefined): Date | null => {
  if (application?.status !== 'active') return null;
  const now = Date.now();
  return new Date(now + untilNextRun(application.application_id, application, now));
};
