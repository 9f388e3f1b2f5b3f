import type { Queryable } from '#db/client.ts';
import { isRegistered } from '#db/queries/applications.ts';
import { findOpenRun, insertRun, type NewRun, type RunRow } from '#db/queries/runs.ts';
import { PermanentError } from '#src/errors.ts';

/**
 * Opens a run, unless one of its application is open.
 * @returns the run that is open now, and whether this call opened it
 * @throws PermanentError when there is no such application, or it is removed
 */
export const openRun = async (sql: Queryable, run: NewRun): Promise<{ run: RunRow; opened: boolean }> => {
  for (;;) {
    const inserted = await insertRun(sql, run);
    if (inserted !== undefined) return { run: inserted, opened: true };
    const open = await findOpenRun(sql, run.application_id);
    if (open !== undefined) return { run: open, opened: false };
    if (!(await isRegistered(sql, run.application_id)))
      throw new PermanentError(`There is no application ${run.application_id}.`);
    // The open run ended between the statements.
  }
};
