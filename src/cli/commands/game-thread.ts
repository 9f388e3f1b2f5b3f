import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { MessageRow } from '#db/queries/threads.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { GAME, GAME_AT_REVISION, parseNamedGame, parseRevision } from '#src/cli/kit/named-game.ts';
import { BY, parseNonEmpty } from '#src/cli/kit/parsers.ts';
import { requireId } from '#src/cli/kit/short-id.ts';
import { UsageError } from '#src/errors.ts';
import { threadList } from '#src/lists/threads.ts';
import { overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import type { Operation } from '#src/operations/operation.ts';
import { messageGame, noteGame } from '#src/operations/threads.ts';

type Write = Operation<typeof noteGame.input, MessageRow, MessageRow>;

const registerWriting = (
  game: CommandUnknownOpts,
  name: string,
  operation: Write,
  help: { summary: string; text: string; details?: string; example: string },
): void =>
  defineCommand(game, name, {
    summary: help.summary,
    ...(help.details !== undefined && { details: help.details }),
    examples: [help.example],
    parameters: (command) =>
      command
        .argument(...GAME)
        .requiredOption('--text <text>', help.text, parseNonEmpty)
        .requiredOption(...BY),
    run: async ({ openDatabase, operate, out }, prefix, { text, by }) => {
      const game_id = await requireId(await openDatabase(), 'games', prefix);
      const row = await operate(operation, { game_id, text }, { by });
      out.answer(row, `Written. Read the thread: npx catalogue game thread ${game_id}`);
    },
  });

const printOutcome = (
  { out }: CommandContext,
  appeal: { outcome: string | null; rejected_by: string },
): void => out.answer(appeal, `The rejection by ${appeal.rejected_by} is ${appeal.outcome}.`);

/** Defines `game thread`, `game note`, `game message`, `game uphold` and `game overturn`. */
export const registerThread = (game: CommandUnknownOpts): void => {
  defineListCommand(game, 'thread', threadList, {
    summary: 'list what operators and its developer wrote about a game',
    examples: ['game thread 019a…', 'game thread 019a… --public --json'],
    limit: { max: 1_000, byDefault: 200 },
  });

  registerWriting(game, 'note', noteGame, {
    summary: 'write a note on a game',
    text: 'the note: operators alone read it',
    example: 'game note 019a… --text "The publisher asked for 3 May." --by kim',
  });

  registerWriting(game, 'message', messageGame, {
    summary: "write to a game's developer",
    text: 'the message',
    details: 'The developer gets the event game.message, and answers in the portal or by game/message.',
    example: 'game message 019a… --text "Which rating does the game have?" --by kim',
  });

  defineCommand(game, 'uphold', {
    summary: 'uphold a rejection that was appealed',
    details:
      'Another operator than the one who rejected does it. The game stays rejected; the same rejection is not appealed again.',
    examples: ['game uphold 019a… --text "The icon is still that of another game." --by lee'],
    parameters: (command) =>
      command
        .argument(...GAME)
        .requiredOption('--text <public>', "why, for the application's developer", parseNonEmpty)
        .requiredOption(...BY),
    run: async (context, prefix, { text, by }) => {
      const game_id = await requireId(await context.openDatabase(), 'games', prefix);
      printOutcome(context, await context.operate(upholdRejection, { game_id, text }, { by }));
    },
  });

  defineCommand(game, 'overturn', {
    summary: 'overturn a rejection that was appealed: the game is passed',
    details:
      'Another operator than the one who rejected does it. The revision is the one that you saw: review appeals prints it.',
    examples: ['game overturn 019a…@2 --text "The icon is yours." --by lee'],
    parameters: (command) =>
      command
        .argument('<game_id>', 'the game with its revision: 019a…@2', parseNamedGame)
        .option('--revision <revision>', 'its revision, if it is not given so', parseRevision)
        .requiredOption('--text <public>', "why, for the application's developer", parseNonEmpty)
        .requiredOption(...BY),
    run: async (context, named, { revision = named.revision, text, by }) => {
      const { prefix } = named;
      if (revision === undefined || (named.revision ?? revision) !== revision)
        throw new UsageError(`Name the revision once. ${GAME_AT_REVISION}`);
      const game_id = await requireId(await context.openDatabase(), 'games', prefix);
      printOutcome(context, await context.operate(overturnRejection, { game_id, revision, text }, { by }));
    },
  });
};
