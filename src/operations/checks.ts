import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import { finishCheck, insertCheck } from '#db/queries/application-checks.ts';
import { checkApplication } from '#src/ingest/specs.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { defineOperation } from '#src/operations/operation.ts';

/** A worker runs the checks, because the sites have no keys, and stores the report. */
export const requestCheck = defineOperation({
  name: 'application.check',
  title: 'Check whether an application follows the interface document',
  answer: z.object({ opened: z.boolean() }),
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication,
  subject: applicationSubject,
  run: async (tx, { application_id }, { caller }) => {
    await requireActiveApplication(tx, application_id);
    const check = { check_id: randomUUIDv7(), application_id, requested_by: caller.actor.actor };
    return (await insertCheck(tx, check)) ? check : undefined;
  },
  log: (check) => (check === undefined ? [] : { details: { check_id: check.check_id } }),
  /** `opened` is false if a check of the application is open, or began less than a minute ago. */
  after: async (check, _, { sql, producer }) => {
    if (check === undefined) return { opened: false };
    const { check_id } = check;
    try {
      await (await producer()).add(checkApplication, { check_id }, { id: check_id });
    } catch (error) {
      await finishCheck(sql, check, { error: 'The queue did not answer: run the check again.' });
      throw error;
    }
    return { opened: true };
  },
});
