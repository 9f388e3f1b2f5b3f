import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { decideGame, findGame, type GameRow } from '#db/queries/games.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { integerBetween, parseUuid } from '#src/cli/parsers.ts';
import type { Decision } from '#src/contract/words.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';
import { requireNonEmpty } from '#src/kyc/guards.ts';

/** @throws UsageError when there is no such game */
export const requireGame = async (sql: Database, game_id: string): Promise<GameRow> => {
  const game = await findGame(sql, game_id);
  if (game !== undefined) return game;
  throw new UsageError(`There is no game ${game_id}. List them with: npx catalogue game list`);
};

/** A game without its hashes. */
export const toGameDocument = ({ content_hash: _content, list_hash: _list, ...game }: GameRow) => game;

const HELP = {
  pass: { summary: 'approve a game', example: '--revision 2' },
  reject: { summary: 'reject a game', example: '--reason "no icon"' },
};
const REVISION_MAX = 2 ** 31 - 1;

/** Defines `game pass` or `game reject`. */
export const defineDecision = (
  game: CommandUnknownOpts,
  name: keyof typeof HELP,
  audit_status: Decision,
): void => {
  const { summary, example } = HELP[name];
  defineCommand(game, name, {
    summary,
    details:
      'A decision applies to one revision of the content. With --revision it fails if the content has changed since.',
    examples: [`game ${name} 019a… --by kim ${example}`],
  })
    .argument('<game_id>', 'the game', parseUuid)
    .requiredOption('--by <who>', 'name of the operator who decides')
    .option(
      '--revision <revision>',
      'revision that the decision applies to (default: the current one)',
      integerBetween(1, REVISION_MAX),
    )
    .addOption(new Option('--reason <why>', 'reason for the decision').makeOptionMandatory(name === 'reject'))
    .action(
      withContext(async ({ openDatabase, out }, game_id, options) => {
        const decided_by = requireNonEmpty(options.by, '--by');
        const reason = options.reason === undefined ? null : requireNonEmpty(options.reason, '--reason');
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
      }),
    );
};
