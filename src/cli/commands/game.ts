import type { Command } from '@commander-js/extra-typings';
import { recountGames } from '#db/queries/api-games.ts';
import { findOpenAppeal } from '#db/queries/appeals.ts';
import { type GameRow, listAudits, listRevisions } from '#db/queries/games.ts';
import { registerDecisions } from '#src/cli/commands/game-decide.ts';
import { registerHistory } from '#src/cli/commands/game-history.ts';
import { registerPackage } from '#src/cli/commands/game-package.ts';
import { registerReview } from '#src/cli/commands/game-review.ts';
import { requireGame, toGameDocument } from '#src/cli/commands/game-text.ts';
import { registerThread } from '#src/cli/commands/game-thread.ts';
import { registerTransfer } from '#src/cli/commands/game-transfer.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { GAME } from '#src/cli/kit/named-game.ts';
import { requireId } from '#src/cli/kit/short-id.ts';
import { EXIT } from '#src/errors.ts';
import { gameList, rejectedGameList, withdrawnGameList } from '#src/lists/games.ts';

/** The commands that decide on a game as it is shown, ready to be copied. */
const decisionCommands = (game: GameRow, isAppealed: boolean): string[] => {
  const { game_id, revision, audit_status, withdrawn_at } = game;
  const named = `${game_id}@${revision}`;
  const isWithdrawn = withdrawn_at !== null;
  const pass = isAppealed
    ? `Overturn: npx catalogue game overturn ${named} --by NAME --text TEXT`
    : `Approve: npx catalogue game pass ${named} --by NAME`;
  return [
    ...(isWithdrawn || audit_status === 'passed' ? [] : [pass]),
    ...(isAppealed ? [`Uphold: npx catalogue game uphold ${named} --by NAME --text TEXT`] : []),
    ...(isWithdrawn || audit_status === 'rejected'
      ? []
      : [`Reject: npx catalogue game reject ${named} --by NAME --reason CODE --text TEXT`]),
    ...(revision > 1 ? [`What changed: npx catalogue game diff ${game_id}`] : []),
  ];
};

/** `catalogue game …` */
export const register = (program: Command): void => {
  const game = program.command('game');

  defineListCommand(game, 'list', gameList, {
    summary: 'list games, in the order in which they were first seen',
    details:
      'Its lines can be piped into game pass and game reject. A search by an id finds withdrawn games too; game withdrawn lists those of an application.',
    examples: [
      'game list --status pending --newest --limit 20',
      'game list --application acme --search lantern',
      'game list --status pending | npx catalogue game pass --seen pending --by kim',
    ],
    newest: '-first_seen',
    limit: { max: 100_000, byDefault: 50 },
  });

  defineListCommand(game, 'rejected', rejectedGameList, {
    summary: 'list the rejected games of an application with reasons, last decided first',
    examples: ['game rejected acme'],
    limit: { max: 100_000, byDefault: 50 },
  });

  defineListCommand(game, 'withdrawn', withdrawnGameList, {
    summary: 'list the games that an application no longer lists, last withdrawn first',
    examples: ['game withdrawn acme'],
    limit: { max: 100_000, byDefault: 50 },
  });

  defineCommand(game, 'show', {
    summary: 'show one game with its revisions and decisions',
    examples: ['game show 019a…'],
    paged: true,
    parameters: (command) => command.argument(...GAME),
    run: async ({ openDatabase, out }, prefix) => {
      const sql = await openDatabase();
      const game_id = await requireId(sql, 'games', prefix);
      const row = await requireGame(sql, game_id);
      const fields = toGameDocument(row);
      const rows = await listRevisions(sql, game_id);
      const revisions = rows.map(({ content_hash: _hash, game_id: _id, ...revision }) => revision);
      const audits = await listAudits(sql, game_id);
      out.record({ ...fields, revisions, audits }, fields);
      out.line();
      out.table(revisions, [
        'revision',
        'fetched_at',
        ['game_name', (revision) => revision.game_name.slice(0, 40)],
        ['game_desc', (revision) => revision.game_desc.slice(0, 60)],
      ]);
      if (audits.length > 0) {
        out.line();
        out.table(audits, [
          ['no', 'audit_id'],
          'decided_at',
          [
            'decision',
            (audit) => (audit.undone_at === null ? audit.audit_status : `${audit.audit_status}, undone`),
          ],
          'revision',
          'decided_by',
          'reason',
          'text',
          'note',
        ]);
      }
      out.line();
      const appeal = await findOpenAppeal(sql, game_id);
      for (const command of decisionCommands(row, appeal !== undefined)) out.line(command);
    },
  });

  registerHistory(game);
  registerReview(game);
  registerDecisions(game);
  registerThread(game);
  registerPackage(game);
  registerTransfer(game);

  defineCommand(game, 'recount', {
    summary: 'compare the counters behind data.total with the games, and repair them',
    details: 'Reads every game while the fleet runs. With --check: exit 3 if a counter is wrong.',
    examples: ['game recount', 'game recount --check --json'],
    parameters: (command) => command.option('--check', 'compare only, repair nothing'),
    run: async ({ openDatabase, out }, { check = false }) => {
      const drift = await recountGames(await openDatabase(), { repair: !check });
      out.list(
        { drift, repaired: !check && drift.length > 0 },
        drift,
        ['application_id', 'audit_status', ['games off', 'games_off'], ['counters off', 'counters_off']],
        'The counters match the games.',
      );
      if (drift.length === 0) return EXIT.done;
      if (check) return EXIT.partial;
      out.line('Repaired.');
      return EXIT.done;
    },
  });
};
