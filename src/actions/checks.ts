import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { finishCheck, insertCheck } from '#db/queries/application-checks.ts';
import { lockActiveApplication } from '#db/queries/applications.ts';
import type { Actor } from '#db/queries/audit.ts';
import { changeAudited } from '#src/actions/audited.ts';
import { PermanentError } from '#src/errors.ts';
import { checkApplication } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * Lets a worker run `app check` and store its report.
 * @returns false if a check of the application is open, or began less than a minute ago
 * @throws PermanentError when there is no such application
 */
export const requestCheck = async (
  { sql, producer }: { sql: Database; producer: Producer },
  actor: Actor,
  application_id: string,
): Promise<boolean> => {
  const check = { check_id: randomUUIDv7(), application_id, requested_by: actor.actor };
  const entry = { subject: `application:${application_id}`, details: { check_id: check.check_id } };
  const isOpened = await changeAudited(sql, actor, { action: 'application.check', ...entry }, async (tx) => {
    if (await lockActiveApplication(tx, application_id)) return insertCheck(tx, check);
    throw new PermanentError(`There is no application ${application_id}.`);
  });
  if (!isOpened) return false;
  try {
    await producer.add(checkApplication, { check_id: check.check_id }, { id: check.check_id });
  } catch (error) {
    await finishCheck(sql, check, { error: 'The queue did not answer: run the check again.' });
    throw error;
  }
  return true;
};
