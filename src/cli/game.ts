import { type Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { recountGames } from '#db/queries/api-games.ts';
import {
  decideGame,
  findGame,
  type GameRow,
  listAudits,
  listGames,
  listRevisions,
} from '#db/queries/games.ts';
import { defineCommand } from '#src/cli/command.ts';
import { integerBetween, limitTo, parseApplicationId, parseNonEmpty, parseUuid } from '#src/cli/parsers.ts';
import { checkListFilter } from '#src/cli/require-application.ts';
import { AUDIT_STATUSES, type Decision } from '#src/contract/words.ts';
import { CatalogueError, EXIT, UsageError } from '#src/errors.ts';

const GAME = ['<game_id>', 'the game', parseUuid] as const;
const parseRevision = integerBetween(1, 2 ** 31 - 1);

/** @throws UsageError when there is no such game */
const requireGame = async (sql: Database, game_id: string): Promise<GameRow> => {
  const game = await findGame(sql, game_id);
  if (game !== undefined) return game;
  throw new UsageError(`There is no game ${game_id}. List them: npx catalogue game list`);
};

/** A game without its hashes. */
const toGameDocument = ({ content_hash: _content, list_hash: _list, ...game }: GameRow) => game;

const HELP = {
  pass: { summary: 'approve a game', example: '--revision 2' },
  reject: { summary: 'reject a game', example: '--reason "no icon"' },
};

/** Defines `game pass` or `game reject`. */
const defineDecision = (game: CommandUnknownOpts, name: keyof typeof HELP, audit_status: Decision): void =>
  defineCommand(game, name, {
    summary: HELP[name].summary,
    details: 'A decision applies to one revision. With --revision it fails if the content has changed since.',
    examples: [`game ${name} 019a… --by kim ${HELP[name].example}`],
    parameters: (command) =>
      command
        .argument(...GAME)
        .requiredOption('--by <who>', 'name of the operator who decides', parseNonEmpty)
        .option('--revision <revision>', 'revision to decide on (default: the current one)', parseRevision)
        .addOption(
          new Option('--reason <why>', 'reason for the decision')
            .argParser(parseNonEmpty)
            .makeOptionMandatory(name === 'reject'),
        ),
    run: async ({ openDatabase, out }, game_id, options) => {
      const { by: decided_by, reason = null } = options;
      const sql = await openDatabase();
      const revision = options.revision ?? (await requireGame(sql, game_id)).revision;
      const isDecided = await decideGame(sql, { game_id, audit_status, decided_by, reason, revision });
      const current = await requireGame(sql, game_id);
      if (!isDecided) {
        throw new CatalogueError(
          `The content of ${game_id} is at revision ${current.revision}, not ${revision}. Read it with npx catalogue game show ${game_id}, then decide again.`,
        );
      }
      out.answer(
        toGameDocument(current),
        `${current.game_name}: ${current.audit_status} at revision ${current.revision}.`,
      );
    },
  });

/** `catalogue game …` */
export const register = (program: Command): void => {
  const game = program.command('game');

  defineCommand(game, 'list', {
    summary: 'list games',
    examples: ['game list --status pending', 'game list --application acme --limit 500 --json'],
    parameters: (command) =>
      command
        .addOption(new Option('--status <status>', 'only games of this audit_status').choices(AUDIT_STATUSES))
        .option('--application <application_id>', 'only games of this application', parseApplicationId)
        .option(...limitTo(100_000, 50)),
    run: async ({ openDatabase, out }, { status, application, limit }) => {
      const sql = await openDatabase();
      await checkListFilter(sql, application);
      const games = await listGames(sql, { audit_status: status, application_id: application, limit });
      out.list(
        { games },
        games,
        [
          'game_id',
          ['application', 'application_id'],
          ['their id', 'application_game_id'],
          ['game_name', (row) => row.game_name.slice(0, 40)],
          'audit_status',
          ['rev', 'revision'],
          ['', (row) => (row.withdrawn_at === null ? '' : 'withdrawn')],
        ],
        'No games.',
      );
    },
  });

  defineCommand(game, 'show', {
    summary: 'show one game with its revisions and decisions',
    examples: ['game show 019a…'],
    parameters: (command) => command.argument(...GAME),
    run: async ({ openDatabase, out }, game_id) => {
      const sql = await openDatabase();
      const fields = toGameDocument(await requireGame(sql, game_id));
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
      if (audits.length === 0) return;
      out.line();
      out.table(audits, ['decided_at', ['decision', 'audit_status'], 'revision', 'decided_by', 'reason']);
    },
  });

  defineDecision(game, 'pass', 'passed');
  defineDecision(game, 'reject', 'rejected');

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
