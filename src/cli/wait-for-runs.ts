import type { Database } from '#db/client.ts';
import { findRuns, type RunRow, sumPages } from '#db/queries/runs.ts';
import type { Output } from '#src/cli/output.ts';
import { openProgress } from '#src/cli/progress.ts';
import { waitForResult } from '#src/cli/wait.ts';

/**
 * Waits until the runs end, with a progress bar for each.
 * @returns the ended runs
 * @throws CatalogueError after `timeoutMs`, or without a worker; the runs continue
 */
export const waitForRuns = async (
  sql: Database,
  out: Output,
  runs: readonly RunRow[],
  timeoutMs: number,
): Promise<RunRow[]> => {
  if (runs.length === 0) return [];
  const applicationIds = runs.map((run) => run.application_id);
  const runIds = runs.map((run) => run.run_id);
  const progress = await openProgress(out, applicationIds, 'games');
  const poll = async (): Promise<RunRow[] | undefined> => {
    const current = await findRuns(sql, runIds);
    if (progress !== undefined) {
      for (const run of current) {
        const { listed, settled, total } = await sumPages(sql, run.run_id);
        progress.update(
          run.application_id,
          settled,
          run.finished_at === null ? Math.max(total, listed) : listed,
        );
      }
    }
    return current.every((run) => run.finished_at !== null) ? current : undefined;
  };
  try {
    return await waitForResult(sql, out, poll, {
      timeoutMs,
      timeoutMessage: 'The runs did not finish in time. They continue: npx catalogue run list',
    });
  } finally {
    progress?.stop();
  }
};
