import { z } from 'zod';
import { markRemoved } from '#db/queries/applications.ts';
import { deleteEventWebhook } from '#db/queries/event-webhooks.ts';
import { deleteFailuresOf } from '#db/queries/failures.ts';
import { deleteRefreshesOf } from '#db/queries/refreshes.ts';
import { lockOpenRun } from '#db/queries/runs.ts';
import { revokeTokensOf } from '#db/queries/tokens.ts';
import { forgetVanishingGames, withdrawAllGames } from '#db/queries/unlisted-games.ts';
import { NotFoundError } from '#src/errors.ts';
import { applicationSubject, oneApplication } from '#src/operations/applications.ts';
import { closeOpenRun } from '#src/operations/open-run.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { placePicturesOf } from '#src/operations/place-pictures.ts';

/**
 * Ends everything of an application: no more calls, its access token and the secrets of its events deleted, its open run
 * closed, its games withdrawn, its failures and requests deleted, its API tokens revoked. A trigger ends its verdict, and
 * deletes its imports that wait for a first pull. Games, revisions and decisions stay readable.
 *
 * The transaction locks run, application and games in this order, as every other transaction does. A run that opens between
 * the locks on the run and on the application is not locked in this order, so the transaction starts again, and afterwards
 * no run can open. Each statement reads what was committed while the one before it waited for a lock.
 */
export const removeApplication = defineOperation({
  name: 'application.remove',
  title: 'Remove an application',
  answer: z.object({ application_id: z.string(), status: z.literal('removed') }),
  right: 'manage_applications',
  input: oneApplication,
  subject: applicationSubject,
  isLong: true,
  run: async (tx, { application_id }) => {
    const open = await lockOpenRun(tx, application_id);
    if (!(await markRemoved(tx, application_id))) throw new NotFoundError('application', application_id);
    await closeOpenRun(tx, application_id, open, 'the application was removed');
    await withdrawAllGames(tx, application_id);
    await forgetVanishingGames(tx, application_id);
    await revokeTokensOf(tx, { application_id });
    await deleteEventWebhook(tx, application_id);
    await deleteFailuresOf(tx, application_id);
    await deleteRefreshesOf(tx, application_id);
    return { application_id, status: 'removed' as const };
  },
  after: placePicturesOf,
});
