/** Jobs that BullMQ's schedulers add. */
import { DelayedError, type Job, UnrecoverableError, type Worker } from 'bullmq';
import type { AnySpec } from '#src/queue/job.ts';
import { CLOCK_BOUND_MS, type TrustedClock } from '#src/queue/trusted-clock.ts';

/** BullMQ's id of the job that a scheduler adds for a moment. */
export const schedulerJobId = (scheduler_id: string, plannedAt: number): string =>
  `repeat:${scheduler_id}:${plannedAt}`;

/** Finds the scheduler that added the job with this id, and the planned time; undefined for jobs that no scheduler added. */
export const parseSchedulerJobId = (id: string): { scheduler_id: string; plannedAt: number } | undefined => {
  const [, scheduler_id, plannedAt] = /^repeat:(.*):(\d+)$/.exec(id) ?? [];
  return scheduler_id === undefined ? undefined : { scheduler_id, plannedAt: Number(plannedAt) };
};

/** @throws UnrecoverableError if the scheduler of a job is none of ours, because it would add jobs for ever */
export const removeForgedScheduler = async (
  { payload, scheduler }: AnySpec,
  { data, repeatJobKey }: Job,
  worker: Worker,
): Promise<void> => {
  if (repeatJobKey === undefined) return;
  const parsed = payload.safeParse(data);
  if (parsed.success && repeatJobKey === scheduler?.(parsed.data)) return;
  await (await worker.jobScheduler).removeJobScheduler(repeatJobKey);
  throw new UnrecoverableError('a scheduler that is none of ours added this job: it was removed');
};

/**
 * Delays a job that runs before its planned time, because the clock of a worker was ahead or somebody promoted it on the
 * board.
 * @throws DelayedError then
 */
export const delayUntilPlanned = async (
  job: Job,
  token: string | undefined,
  clock: Pick<TrustedClock, 'now'>,
): Promise<void> => {
  const { plannedAt = 0 } = parseSchedulerJobId(job.id ?? '') ?? {};
  if (plannedAt - clock.now() <= CLOCK_BOUND_MS) return;
  await job.moveToDelayed(plannedAt, token);
  throw new DelayedError();
};
