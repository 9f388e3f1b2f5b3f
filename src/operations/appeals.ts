/** Appeals: a developer appeals a rejection once, and another reviewer than the one who rejected decides. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { type AppealDecision, type AppealRow, decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { lockGames } from '#db/queries/decisions.ts';
import { lockAgainstHolds } from '#db/queries/holds.ts';
import { time } from '#src/contract/documents.ts';
import { APPEAL_OUTCOMES } from '#src/contract/words.ts';
import { StateError } from '#src/errors.ts';
import { explainResult } from '#src/operations/decision-results.ts';
import { addPictureJobs, decide, seenRevision } from '#src/operations/decisions.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { gameOfCaller, refuseInWords, writtenText } from '#src/operations/threads.ts';

const appealed = z.object({
  game_id: z.guid().toLowerCase(),
  /** Of an appeal, what is wrong with the rejection; of a decision on it, the reason. */
  text: writtenText,
});

const decidedAppeal = appealed.extend({
  appeal_id: z.int().optional().describe('The appeal that was read. Absent: the one that is open.'),
});

const answer = z.object({
  appeal_id: z.int(),
  game_id: z.guid(),
  application_id: z.string(),
  audit_id: z.int().describe('The rejection.'),
  rejected_by: z.string(),
  text: z.string(),
  opened_at: time,
  outcome: z.enum(APPEAL_OUTCOMES).nullable(),
  decided_by: z.string().nullable(),
  answer: z.string().nullable().describe('What the developer reads of the outcome.'),
  decided_at: time.nullable(),
});

export const appealRejection = defineOperation({
  name: 'game.appeal',
  title: 'Appeal the rejection of a game',
  right: 'application',
  byApplication: true,
  input: appealed,
  subject: gameOfCaller,
  run: (tx, input) => refuseInWords(() => insertAppeal(tx, input)),
  log: ({ appeal_id, audit_id, game_id }) => ({
    subject: `game:${game_id}`,
    details: { appeal_id, audit_id },
  }),
  answer,
});

/** Locks the game, as a decision does, then decides the appeal. @throws StateError in the words of a trigger */
const decideOn = async (tx: Queryable, decision: AppealDecision): Promise<AppealRow> => {
  const game_ids = [decision.game_id];
  await lockAgainstHolds(tx, game_ids);
  await lockGames(tx, game_ids);
  const appeal = await refuseInWords(() => decideAppeal(tx, decision));
  if (appeal !== undefined) return appeal;
  const { appeal_id, game_id } = decision;
  const what = appeal_id === undefined ? 'No appeal is open' : `The appeal ${appeal_id} is not open`;
  throw new StateError(`${what} on the game ${game_id}.`);
};

const noteAppeal = ({ appeal_id, audit_id, rejected_by }: AppealRow) => ({
  details: { appeal_id, audit_id, rejected_by },
});

export const upholdRejection = defineOperation({
  name: 'game.uphold',
  title: 'Uphold a rejection that was appealed',
  right: 'decide',
  input: decidedAppeal,
  subject: gameOfCaller,
  run: (tx, { text, ...appeal }, { caller }) =>
    decideOn(tx, { ...appeal, outcome: 'upheld', decided_by: caller.actor.actor, answer: text }),
  log: noteAppeal,
  answer,
});

export const overturnRejection = defineOperation({
  name: 'game.overturn',
  title: 'Overturn a rejection that was appealed: the game is passed',
  right: 'decide',
  input: decidedAppeal.extend(seenRevision.shape),
  subject: gameOfCaller,
  run: async (tx, { text, appeal_id, ...seen }, context) => {
    const { game_id } = seen;
    const decided_by = context.caller.actor.actor;
    const appeal = await decideOn(tx, {
      appeal_id,
      game_id,
      outcome: 'overturned',
      decided_by,
      answer: text,
    });
    const decision = {
      audit_status: 'passed',
      reason: null,
      text: null,
      appeal_id: appeal.appeal_id,
    } as const;
    const batch = await decide(tx, { games: [seen], note: null }, decision, context);
    const [game] = batch.games;
    if (game?.result === 'decided') return { appeal, batch };
    // The transaction ends, and the appeal stays open.
    throw new StateError(`Nothing was decided: ${game === undefined ? 'no game' : explainResult(game)}.`);
  },
  log: ({ appeal, batch: { games } }) => ({
    details: { ...noteAppeal(appeal).details, decision: games[0]?.game?.last?.audit_id },
  }),
  after: async ({ appeal, batch }, _, platform): Promise<AppealRow> => {
    await addPictureJobs(batch, undefined, platform);
    return appeal;
  },
  answer,
});
