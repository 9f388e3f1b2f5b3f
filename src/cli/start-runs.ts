import type { RunRow } from '#db/queries/runs.ts';
import { startRun } from '#src/ingest/steps.ts';
import type { Foundation } from '#src/roles/foundation.ts';

/** Opens a run for each application and adds its first job. An application whose run is open keeps that run. */
export const startRuns = async (
  foundation: Foundation,
  application_ids: readonly string[],
  options: { full: boolean; accept_withdrawals: boolean },
): Promise<{ opened: RunRow[]; alreadyRunning: RunRow[] }> => {
  const opened: RunRow[] = [];
  const alreadyRunning: RunRow[] = [];
  for (const application_id of application_ids) {
    const started = await startRun(foundation, { application_id, trigger: 'manual', ...options });
    (started.opened ? opened : alreadyRunning).push(started.run);
  }
  return { opened, alreadyRunning };
};
