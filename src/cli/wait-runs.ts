import { setTimeout as sleep } from 'node:timers/promises';
import type { MultiBar, SingleBar } from 'cli-progress';
import type { Database } from '#db/client.ts';
import { findRuns, type RunRow, sumPages } from '#db/queries/runs.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import type { Output } from '#src/cli/output.ts';
import { CatalogueError } from '#src/errors.ts';

const POLL_MS = 200;
/** A worker that was started a moment ago needs a moment. */
const WORKER_GRACE_MS = 15_000;

const NO_WORKER = 'No worker is running: start one with npx catalogue worker (or up).';

/** Say at once when nobody will do the work. */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  if ((await listLiveWorkers(sql)).length > 0) return true;
  out.note(`${NO_WORKER} The work waits in the queue until then.`);
  return false;
};

type Bars = { update: (run: RunRow) => Promise<void>; stop: () => void };

const FORMAT = '{application_id} {bar} {value}/{total} games';

/** A progress bar for each run, on a terminal only. */
const openBars = async (sql: Database, runs: readonly RunRow[], out: Output): Promise<Bars> => {
  if (!process.stderr.isTTY || out.json) return { update: async () => {}, stop: () => {} };
  const { default: progress } = await import('cli-progress');
  const bars: MultiBar = new progress.MultiBar(
    { format: FORMAT, hideCursor: true, stream: process.stderr, barsize: 30, autopadding: true },
    progress.Presets.shades_classic,
  );
  const width = Math.max(0, ...runs.map((run) => run.application_id.length));
  const byRun = new Map<string, SingleBar>(
    runs.map((run) => [run.run_id, bars.create(1, 0, { application_id: run.application_id.padEnd(width) })]),
  );
  return {
    update: async (run) => {
      const bar = byRun.get(run.run_id);
      const { listed, settled, total } = await sumPages(sql, run.run_id);
      bar?.setTotal(Math.max(run.finished_at === null ? total : listed, listed, 1));
      bar?.update(settled);
    },
    stop: () => bars.stop(),
  };
};

/**
 * Wait until these runs have ended. Says at once when no worker lives, and gives up when none appears.
 * @throws CatalogueError when the time is over; the runs go on
 */
export const awaitRuns = async (
  sql: Database,
  runs: readonly RunRow[],
  { timeoutMs, out }: { timeoutMs: number; out: Output },
): Promise<RunRow[]> => {
  if (runs.length === 0) return [];
  const started = performance.now();
  let workerSeen = await warnWithoutWorker(sql, out);
  const bars = await openBars(sql, runs, out);
  const ids = runs.map((run) => run.run_id);
  try {
    for (;;) {
      const now = await findRuns(sql, ids);
      for (const run of now) await bars.update(run);
      if (now.every((run) => run.finished_at !== null)) return now;
      const waited = performance.now() - started;
      if (waited > timeoutMs) {
        throw new CatalogueError(
          'The runs have not ended in the time given; they go on: npx catalogue run list',
        );
      }
      if (!workerSeen) {
        workerSeen = (await listLiveWorkers(sql)).length > 0;
        if (!workerSeen && waited > WORKER_GRACE_MS)
          throw new CatalogueError(`${NO_WORKER} The runs wait in the queue until then.`);
      }
      await sleep(POLL_MS);
    }
  } finally {
    bars.stop();
  }
};
