import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { type ApprovalRow, findVersion } from '#db/queries/approvals.ts';
import { lockSuspectRun, withdrawVanishingGames } from '#db/queries/vanishing-games.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { CatalogueError, NotFoundError, StateError } from '#src/errors.ts';
import { noteVoid, voidOpenRequests } from '#src/operations/approvals.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { placePictures } from '#src/operations/place-pictures.ts';
import { runSubject } from '#src/operations/runs.ts';

const SELECTED_MAX = 10_000;

/** Games that are selected one by one. */
export const selectedGames = z
  .array(z.guid().toLowerCase())
  .min(1, 'names no game: select at least one')
  .max(SELECTED_MAX, `must be at most ${SELECTED_MAX}`);

/** @throws CatalogueError unless the run is suspect and the latest one, because a later run has read a newer list */
const requireSuspect = async (tx: Queryable, run_id: string): Promise<string> => {
  const run = await lockSuspectRun(tx, run_id);
  if (run === undefined) throw new NotFoundError('run', run_id);
  if (run.outcome !== 'suspect')
    throw new StateError(
      `The run ${run_id} is ${run.outcome ?? 'open'}, not suspect: it has nothing to accept.`,
    );
  if (run.is_latest) return run.application_id;
  throw new CatalogueError(`A later run of ${run.application_id} has begun: look at its result.`);
};

/**
 * Accepts withdrawals of a suspect run: withdraws games that it did not name (`listVanishingGamePage`). Games that a later
 * call has fetched stay. `run.start_accepting` opens a new run instead, which reads the list again.
 */
export const acceptWithdrawals = defineOperation({
  name: 'run.accept_withdrawals',
  title: 'Withdraw the games that a suspect run did not name',
  answer: z.object({ run_id: z.guid(), game_ids: z.array(z.guid()) }),
  right: 'accept_withdrawals',
  input: z.object({
    run_id: z.guid().toLowerCase(),
    /** Absent: all. With an approval, the games that it names. */
    game_ids: selectedGames.optional(),
  }),
  subject: runSubject,
  isLong: true,
  secondPerson: {
    kind: 'withdrawals',
    lockVersion: async (tx, { run_id }) => {
      await requireSuspect(tx, run_id);
      return (await findVersion(tx, 'withdrawals', runSubject({ run_id }))) ?? '';
    },
  },
  run: async (tx, { run_id, game_ids }, { approval }) => {
    const application_id = await requireSuspect(tx, run_id);
    const accepted = approval === undefined ? game_ids : approval.requested.game_ids;
    const withdrawn = await withdrawVanishingGames(tx, run_id, accepted);
    const voided: ApprovalRow[] =
      withdrawn.length === 0 ? [] : await voidOpenRequests(tx, 'withdrawals', runSubject({ run_id }));
    return { application_id, game_ids: withdrawn, voided };
  },
  log: ({ application_id, game_ids, voided }) => {
    if (game_ids.length === 0) return [];
    const named = { games: game_ids.length, game_ids: game_ids.slice(0, LOGGED_IDS_MAX) };
    return [{ details: { application_id, ...named } }, ...voided.map(noteVoid)];
  },
  after: async ({ application_id, game_ids }, { run_id }, platform) => {
    if (game_ids.length > 0) await placePictures(platform, { application_id });
    return { run_id, game_ids };
  },
});
