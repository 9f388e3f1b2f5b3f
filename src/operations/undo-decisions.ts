import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import {
  listBatchIds,
  listDecisions,
  lockGames,
  readDecidableGames,
  undoDecisions,
} from '#db/queries/decisions.ts';
import { lockAgainstHolds } from '#db/queries/holds.ts';
import { checkPinsOf } from '#db/queries/picture-pins.ts';
import { NotFoundError } from '#src/errors.ts';
import { explainNothingDone, type GameUndo } from '#src/operations/decision-results.ts';
import { DECISION_GAMES_MAX, outcome, withGames } from '#src/operations/decisions.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { placePictures } from '#src/operations/place-pictures.ts';
import { judgeUndo, UNDO_RESULTS } from '#src/rules/judge-decision.ts';

/** The decisions that are to be undone. */
const undone = z
  .object({
    audit_ids: z.array(z.int().min(0)).min(1).max(DECISION_GAMES_MAX).optional(),
    /** Every decision of a batch. */
    batch_id: z.guid().toLowerCase().optional(),
  })
  .refine(
    ({ audit_ids, batch_id }) => (audit_ids === undefined) !== (batch_id === undefined),
    'Give audit_ids or batch_id',
  );

/** Locks the games of decisions, then reads the decisions, because the lock may have waited for another undo. */
const lockDecisions = async (tx: Queryable, { audit_ids, batch_id = '' }: z.infer<typeof undone>) => {
  const ids = audit_ids ?? (await listBatchIds(tx, batch_id));
  const game_ids = (await listDecisions(tx, ids)).map(({ game_id }) => game_id);
  await lockAgainstHolds(tx, game_ids);
  await lockGames(tx, game_ids);
  const decisions = await listDecisions(tx, ids);
  if (decisions.length > 0) return { decisions, game_ids };
  throw new NotFoundError('decision', audit_ids?.join(', ') ?? batch_id);
};

/** Each game returns to the status that it had before, unless its content has changed or there is a later decision. */
export const undoGameDecisions = defineOperation({
  name: 'game.undo',
  title: 'Undo decisions',
  answer: z.array(outcome(UNDO_RESULTS).extend({ audit_id: z.int() })),
  refusal: explainNothingDone,
  right: 'decide',
  input: undone,
  subject: () => 'game:*',
  run: async (tx, input, { caller }): Promise<(GameUndo & { batch_id: string | null })[]> => {
    const { decisions, game_ids } = await lockDecisions(tx, input);
    const before = await readDecidableGames(tx, game_ids);
    const judged = decisions.map((decision) => {
      const { game_id, audit_id, revision, batch_id } = decision;
      return { game_id, audit_id, revision, batch_id, result: judgeUndo(decision, before.get(game_id)) };
    });
    const standing = judged.filter(({ result }) => result === 'undone');
    if (standing.length === 0) return withGames(judged, before);
    await undoDecisions(
      tx,
      standing.map(({ audit_id }) => audit_id),
      caller.actor.actor,
    );
    await checkPinsOf(
      tx,
      standing.map(({ game_id }) => game_id),
    );
    return withGames(judged, await readDecidableGames(tx, game_ids));
  },
  log: (games) =>
    games
      .filter(({ result }) => result === 'undone')
      .map(({ game_id, revision, audit_id, batch_id }) => ({
        subject: `game:${game_id}`,
        details: { revision, audit_id, ...(batch_id !== null && { batch_id }) },
      })),
  after: async (games, _, platform): Promise<GameUndo[]> => {
    await placePictures(platform, { game_ids: games.map(({ game_id }) => game_id) });
    return games.map(({ batch_id: _batch, ...undone }) => undone);
  },
});
