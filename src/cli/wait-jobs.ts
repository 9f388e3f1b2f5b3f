import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Queue } from 'bullmq';
import { listLiveWorkers } from '#db/queries/workers.ts';
import type { Output } from '#src/cli/output.ts';
import { warnWithoutWorker } from '#src/cli/wait-runs.ts';
import { CatalogueError, EXIT, type ExitCode } from '#src/errors.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const POLL_MS = 200;
const TIMEOUT_MS = 10 * 60_000;
const WORKER_GRACE_MS = 15_000;

/**
 * Wait until these jobs have ended. Says at once when no worker lives, and gives up when none appears.
 * @returns for each job what it left, or `{ error }` with the reason it failed
 * @throws CatalogueError when they have not ended in time; they stay in the queue
 */
export const awaitResults = async (
  { sql, producer }: Foundation,
  spec: AnySpec,
  added: readonly Job[],
  out: Output,
): Promise<JobResult[]> => {
  const queue = producer.queue(spec);
  const started = performance.now();
  await warnWithoutWorker(sql, out);
  const results: JobResult[] = [];
  for (const { id } of added) {
    for (;;) {
      const result = await resultOf(queue, id);
      if (result !== undefined) {
        results.push(result);
        break;
      }
      const waited = performance.now() - started;
      if (waited > TIMEOUT_MS || (waited > WORKER_GRACE_MS && (await listLiveWorkers(sql)).length === 0)) {
        throw new CatalogueError(
          'The jobs have not ended; they stay in the queue: npx catalogue queue status',
        );
      }
      await sleep(POLL_MS);
    }
  }
  return results;
};

const resultOf = async (queue: Queue, id: string | undefined): Promise<JobResult | undefined> => {
  const job = id === undefined ? undefined : await queue.getJob(id);
  if (job === undefined) return { error: 'the job is gone from the queue' };
  if (await job.isCompleted()) return (await queue.getJob(job.id ?? ''))?.returnvalue ?? {};
  if (await job.isFailed()) return { error: (await queue.getJob(job.id ?? ''))?.failedReason ?? 'failed' };
  return undefined;
};

/** Wait until these jobs have ended, print what they brought, and say how it went. */
export const awaitJobs = async (
  foundation: Foundation,
  spec: AnySpec,
  added: readonly Job[],
  out: Output,
): Promise<ExitCode> => {
  const results = await awaitResults(foundation, spec, added, out);
  out.document({ results });
  for (const result of results) {
    out.line(
      Object.entries(result)
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
    );
  }
  if (results.some((result) => result.error !== undefined)) return EXIT.failed;
  return results.some((result) => Number(result.invalid ?? 0) > 0) ? EXIT.partial : EXIT.done;
};
