import { randomUUIDv7 } from 'node:crypto';
import { openRun, type RunRow } from '#db/queries/runs.ts';
import { enqueueNextStep } from '#src/ingest/steps.ts';
import type { Foundation } from '#src/roles/foundation.ts';

/** Opens a run for each application and adds its first job. An application whose run is open keeps that run. */
export const startRuns = async (
  { sql, producer }: Foundation,
  application_ids: readonly string[],
  options: { full: boolean; accept_withdrawals: boolean },
): Promise<{ opened: RunRow[]; alreadyRunning: RunRow[] }> => {
  const opened: RunRow[] = [];
  const alreadyRunning: RunRow[] = [];
  for (const application_id of application_ids) {
    const run_id = randomUUIDv7();
    const result = await openRun(sql, { run_id, application_id, trigger: 'manual', ...options });
    if (result.opened) await enqueueNextStep(producer, result.run, false);
    (result.opened ? opened : alreadyRunning).push(result.run);
  }
  return { opened, alreadyRunning };
};
