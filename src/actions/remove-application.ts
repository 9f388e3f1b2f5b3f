import type { Database, Queryable } from '#db/client.ts';
import { markRemoved, retireApplication } from '#db/queries/applications.ts';
import { deleteEventWebhook } from '#db/queries/event-webhooks.ts';
import { closeRun, findOpenRun, lockOpenRun } from '#db/queries/runs.ts';

type Finish = (tx: Queryable) => Promise<void>;

/**
 * Removes an application: no more calls, its access token and the secrets of its events deleted, its open run closed, its
 * games withdrawn, its failures deleted, the API tokens that read its games revoked. Games, revisions and decisions stay
 * readable.
 *
 * Every transaction locks run, application and games in this order. A run that opens between the locks on the run and on
 * the application is not locked in this order, so the transaction starts again: afterwards no run can open.
 * @param finish the last statements of the transaction
 * @returns false when there is no such application
 */
export const removeApplication = async (
  sql: Database,
  application_id: string,
  finish: Finish = async () => {},
): Promise<boolean> => {
  for (;;) {
    try {
      return await sql.begin((tx) => removeOnce(tx, application_id, finish));
    } catch (error) {
      if (error !== openedMeanwhile) throw error;
    }
  }
};

const openedMeanwhile = new Error('a run was opened while its application is removed');

/** Separate statements: each reads what was committed while the one before it waited for a lock. */
const removeOnce = async (tx: Queryable, application_id: string, finish: Finish): Promise<boolean> => {
  const open = await lockOpenRun(tx, application_id);
  if (!(await markRemoved(tx, application_id))) return false;
  const verdict = { outcome: 'abandoned', reason: 'the application was removed' } as const;
  if (open !== undefined) await closeRun(tx, open, verdict);
  if ((await findOpenRun(tx, application_id)) !== undefined) throw openedMeanwhile;
  await retireApplication(tx, application_id);
  await deleteEventWebhook(tx, application_id);
  await finish(tx);
  return true;
};
