/** Holds: an operator takes the games of an application out of group A, and brings them back. */

import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import {
  deleteHold,
  findPassObstacle,
  holdGames,
  insertHold,
  lockForHold,
  releaseGames,
} from '#db/queries/holds.ts';
import { lockOpenRun } from '#db/queries/runs.ts';
import { count } from '#src/contract/documents.ts';
import { reasonText } from '#src/contract/text.ts';
import { CatalogueError, NotFoundError } from '#src/errors.ts';
import { applicationSubject, oneApplication } from '#src/operations/applications.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { placePicturesOf } from '#src/operations/place-pictures.ts';

/** Locks run, application and games in this order, as every other transaction. @throws NotFoundError */
const lockApplication = async (tx: Queryable, application_id: string): Promise<void> => {
  await lockOpenRun(tx, application_id);
  if (!(await lockForHold(tx, application_id))) throw new NotFoundError('application', application_id);
};

const answer = z.object({ application_id: z.string(), games: count });

export const holdApplication = defineOperation({
  name: 'application.hold',
  title: 'Hold the games of an application: none of them is live, and none can be passed',
  right: 'hold_applications',
  answer,
  input: oneApplication.extend({
    /** Its developer reads it. */
    reason: reasonText('the developer and the audit log need it'),
  }),
  subject: applicationSubject,
  isLong: true,
  run: async (tx, { application_id, reason }, { caller }) => {
    await lockApplication(tx, application_id);
    if (!(await insertHold(tx, { application_id, reason, held_by: caller.actor.actor })))
      throw new CatalogueError(`${application_id} is held already.`);
    return { application_id, games: await holdGames(tx, application_id) };
  },
  log: ({ games }, { reason }) => ({ reason, details: { games } }),
  after: placePicturesOf,
});

export const releaseApplication = defineOperation({
  name: 'application.release',
  title: 'Release the games of an application: those that a hold returned to review are live again',
  right: 'hold_applications',
  answer,
  input: oneApplication.extend({
    /** The beginning of the hold that the operator saw. If it is another one, the release is refused. Absent: any. */
    held_at: z.iso.datetime({ offset: true }).optional(),
  }),
  subject: applicationSubject,
  isLong: true,
  run: async (tx, { application_id, held_at }) => {
    await lockApplication(tx, application_id);
    const hold = await deleteHold(tx, application_id);
    if (hold === undefined) throw new CatalogueError(`${application_id} is not held.`);
    if (held_at !== undefined && Date.parse(held_at) !== hold.held_at.getTime())
      throw new CatalogueError(
        `${application_id} is held anew by ${hold.held_by} since the page was shown: look at it, then decide again.`,
      );
    if ((await findPassObstacle(tx, application_id)) !== null)
      throw new CatalogueError(
        `The developer of ${application_id} has no standing verdict, and GAMES_NEED_VERDICT is on: a KYC officer gives one first (kyc verdict).`,
      );
    return { application_id, games: await releaseGames(tx, application_id) };
  },
  log: ({ games }) => ({ details: { games } }),
  after: placePicturesOf,
});
