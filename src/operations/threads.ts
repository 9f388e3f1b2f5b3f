/** What is written about one game: notes of operators, messages to its developer, and the developer's answers. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { findGame } from '#db/queries/games.ts';
import { insertMessage, type MessageRow } from '#db/queries/threads.ts';
import { isPostgresError, TALK_REFUSED } from '#db/sqlstate.ts';
import { time } from '#src/contract/documents.ts';
import { prose } from '#src/contract/text.ts';
import { MESSAGE_KINDS } from '#src/contract/words.ts';
import { coerceError, NotFoundError, StateError } from '#src/errors.ts';
import { type Caller, defineOperation } from '#src/operations/operation.ts';

/** A text for a reader, so it must not be empty. */
export const writtenText = prose.refine((text) => text !== '', 'is empty: write what the reader needs');

const written = z.object({ game_id: z.guid().toLowerCase(), text: writtenText });

/** Turns the refusal of a trigger of threads and appeals into a StateError with its message. */
export const refuseInWords = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (thrown) {
    const error = coerceError(thrown);
    if (isPostgresError(error, TALK_REFUSED)) throw new StateError(error.message);
    throw error;
  }
};

/**
 * The subject of an operation on a game: the game or, if a developer calls, its application.
 * @throws NotFoundError if there is no game, or it is another application's
 */
export const gameOfCaller = async (
  { game_id }: { game_id: string },
  { sql, caller: { actor } }: { sql: Queryable; caller: Caller },
): Promise<string> => {
  const game = await findGame(sql, game_id);
  const isDeveloper = actor.actor_kind === 'application';
  if (game === undefined || (isDeveloper && game.application_id !== actor.actor))
    throw new NotFoundError('game', game_id);
  return isDeveloper ? `application:${game.application_id}` : `game:${game_id}`;
};

const answer = z.object({
  message_id: z.int(),
  game_id: z.guid(),
  application_id: z.string(),
  kind: z.enum(MESSAGE_KINDS),
  written_by: z.string(),
  text: z.string(),
  written_at: time,
});

const noteMessage = ({ message_id, game_id, kind }: MessageRow) => ({
  subject: `game:${game_id}`,
  details: { message_id, kind },
});

export const noteGame = defineOperation({
  name: 'game.note',
  title: 'Write a note on a game, which operators alone read',
  right: 'decide',
  input: written,
  subject: gameOfCaller,
  run: (tx, { game_id, text }, { caller }) =>
    refuseInWords(() => insertMessage(tx, { game_id, text, kind: 'note', written_by: caller.actor.actor })),
  log: noteMessage,
  answer,
});

export const messageGame = defineOperation({
  name: 'game.message',
  title: "Write to a game's developer, or as its developer to the reviewers",
  right: 'decide',
  byApplication: true,
  input: written,
  subject: gameOfCaller,
  run: (tx, { game_id, text }, { caller: { actor } }) => {
    const kind = actor.actor_kind === 'application' ? 'answer' : 'message';
    return refuseInWords(() => insertMessage(tx, { game_id, text, kind, written_by: actor.actor }));
  },
  log: noteMessage,
  answer,
});
