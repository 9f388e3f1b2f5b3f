import { noteOpenRun } from '#db/queries/run-steps.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';

const formatMoment = (moment: Date): string => `${moment.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/**
 * Logs and notes in the run that it waits, because the application requests a delay. The note stays until the run ends.
 * @param reason the page and the failure that has Retry-After
 * @param now the database's clock
 */
export const noteWait = async (
  { deps, log }: Pick<JobContext, 'deps' | 'log'>,
  { run_id, fence, application_id }: Pick<RunRow, 'run_id' | 'fence' | 'application_id'>,
  reason: string,
  now: Date,
  ms: number,
): Promise<void> => {
  const until = formatMoment(new Date(now.getTime() + ms));
  log.info({ run_id, application_id, reason, until }, 'the application requests a delay');
  const note = `${reason}; by Retry-After, the application is called again at ${until}`;
  await noteOpenRun(deps.sql, { run_id, fence }, note);
};
