import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describeDiff, requireGame } from '#src/cli/commands/game-text.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { parseNamedGame, parseRevision } from '#src/cli/kit/named-game.ts';
import { APPLICATION } from '#src/cli/kit/parsers.ts';
import { requireId } from '#src/cli/kit/short-id.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { readTimeline } from '#src/review/timeline.ts';

const FROM = [
  '--from <revision>',
  'default: the last one before --to that was decided',
  parseRevision,
] as const;
const TO = ['--to <revision>', 'default: the current one', parseRevision] as const;

/** Defines `game diff` and `game why`. */
export const registerHistory = (game: CommandUnknownOpts): void => {
  defineCommand(game, 'diff', {
    summary: 'show what changed in a game, word by word',
    details: '[-removed-] and {+added+} words, as git diff --word-diff marks them.',
    examples: ['game diff 019a…', 'game diff 019a… --from 1 --to 3', 'game diff 019a… --json'],
    paged: true,
    parameters: (command) =>
      command
        .argument('<game_id>', 'the game; 019a…@2 compares revision 2', parseNamedGame)
        .option(...FROM)
        .option(...TO),
    run: async ({ openDatabase, out }, { prefix, revision }, { from, to = revision }) => {
      const sql = await openDatabase();
      const game_id = await requireId(sql, 'games', prefix);
      const diff = await compareRevisions(sql, await requireGame(sql, game_id), { from, to });
      out.document({ game_id, from: diff.from, to: diff.to, fields: diff.fields });
      out.styled(describeDiff(diff, out.stdio.stdout.columns));
    },
  });

  defineCommand(game, 'why', {
    summary: 'tell why a game of an application is live or not, and what happened to it',
    details: 'Takes the id that the application gave to the game, also of a game that was never stored.',
    examples: ['game why acme g-17', 'game why acme g-17 --json'],
    paged: true,
    parameters: (command) =>
      command.argument(...APPLICATION).argument('<application_game_id>', "the application's id"),
    run: async ({ openDatabase, out }, application_id, application_game_id) => {
      const timeline = await readTimeline(await openDatabase(), application_id, application_game_id);
      const { game, answer, entries, waiting } = timeline;
      const { game_id = null, audit_status = null } = game ?? {};
      out.document({ application_id, application_game_id, game_id, audit_status, answer, waiting, entries });
      out.line(answer.text);
      if (game !== null) out.line(`npx catalogue game show ${game.game_id}`);
      if (entries.length === 0) return;
      out.line();
      out.table(entries, ['at', 'kind', ['what', 'text'], 'by', 'note']);
    },
  });
};
