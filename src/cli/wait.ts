import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/client.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import type { Output } from '#src/cli/output.ts';
import { CatalogueError } from '#src/errors.ts';

const POLL_MS = 200;
/** How long a worker that was just started takes at most to appear. */
const WORKER_START_MS = 15_000;

/** How long `--wait` waits, unless `--timeout` says otherwise. */
export const WAIT_TIMEOUT_MS = 10 * 60_000;

const NO_WORKER = 'No worker is running: start one with npx catalogue worker (or up).';

const hasWorker = async (sql: Database): Promise<boolean> => (await listLiveWorkers(sql)).length > 0;

/** @returns whether a worker runs */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  const found = await hasWorker(sql);
  if (!found) out.note(`${NO_WORKER} The work stays in the queue until then.`);
  return found;
};

/**
 * Calls `poll` until it returns a result.
 * @throws CatalogueError after `timeoutMs`, or after 15 s without a worker
 */
export const waitForResult = async <Result>(
  sql: Database,
  out: Output,
  poll: () => Promise<Result | undefined>,
  { timeoutMs, timeoutMessage }: { timeoutMs: number; timeoutMessage: string },
): Promise<Result> => {
  const started = performance.now();
  let workerSeen = await warnWithoutWorker(sql, out);
  for (;;) {
    const result = await poll();
    if (result !== undefined) return result;
    const waitedMs = performance.now() - started;
    if (waitedMs > timeoutMs) throw new CatalogueError(timeoutMessage);
    workerSeen ||= await hasWorker(sql);
    if (!workerSeen && waitedMs > WORKER_START_MS)
      throw new CatalogueError(`${NO_WORKER} The work stays in the queue until then.`);
    await sleep(POLL_MS);
  }
};
