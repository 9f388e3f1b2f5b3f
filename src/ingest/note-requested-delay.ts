import { noteOpenRun } from '#db/queries/run-steps.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { formatUtc } from '#src/lib/utc.ts';

/**
 * Logs that the application requests a delay, and writes it on the open run as a note, which stays until the run ends.
 * @param reason the page and the failure that has Retry-After
 * @param until by the database's clock
 */
export const noteRequestedDelay = async (
  { deps, log }: Pick<JobContext, 'deps' | 'log'>,
  { run_id, fence, application_id }: Pick<RunRow, 'run_id' | 'fence' | 'application_id'>,
  reason: string,
  until: Date,
): Promise<void> => {
  const moment = formatUtc(until);
  log.info({ run_id, application_id, reason, until: moment }, 'the application requests a delay');
  const note = `${reason}; by Retry-After, the application is called again at ${moment}`;
  await noteOpenRun(deps.sql, { run_id, fence }, note);
};
