import { text } from 'node:stream/consumers';
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { exitCodeOf } from '#src/cli/commands/decision-results.ts';
import { fetchMissing } from '#src/cli/commands/fetch-missing.ts';
import { describeDiff, requireGame, toGameDocument } from '#src/cli/commands/game-text.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { GAME_AT_REVISION, type NamedGame, parseNamedGame, parseRevision } from '#src/cli/kit/named-game.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { parseNonEmpty, parseUuid, variadic } from '#src/cli/kit/parsers.ts';
import { askYesNo, isInteractive } from '#src/cli/kit/prompt.ts';
import { requireId } from '#src/cli/kit/short-id.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { CatalogueError, EXIT, type ExitCode, UsageError } from '#src/errors.ts';
import { DONE, explainResult, type GameDecision, type GameUndo } from '#src/operations/decision-results.ts';
import { type DecidedBatch, passGames, rejectGames, type SeenRevision } from '#src/operations/decisions.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { OBSTACLES } from '#src/rules/judge-decision.ts';

const parseDecisionId = (given: string): number | string => {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  try {
    return parseUuid(given);
  } catch {
    throw new InvalidArgumentError('Give the number of a decision, or the whole id of a batch.');
  }
};

/** The last line of a page that is not the last: `50 of 120, next: …`, of a search `50 games, next: …`. */
const REST = /^\d+ .*, next: /;
/** The header of `game list`. */
const HEADER = /^game\s+application\s/;

/** Most characters of a wrong word that an error shows. A game with its revision is shorter. */
const WORD_SHOWN = 60;

/** Reads games from lines. The first word of each is a game, as `game list` prints them. */
const readStdin = async (out: Output): Promise<NamedGame[]> => {
  const lines = (await text(out.stdio.stdin)).split('\n').map((line, index) => ({
    line,
    number: index + 1,
    word: line.trim().split(/\s+/)[0] ?? '',
  }));
  const more = lines.find(({ line }) => REST.test(line));
  if (more !== undefined) out.note(`The input is not the whole list: ${more.line}`);
  return lines
    .filter(({ word }) => word !== '' && !word.startsWith('#'))
    .filter(({ line }) => !REST.test(line) && !HEADER.test(line))
    .map(({ number, word }) => {
      try {
        return parseNamedGame(word);
      } catch {
        throw new UsageError(
          `Line ${number} of the input begins with "${word.slice(0, WORD_SHOWN)}". ${GAME_AT_REVISION}`,
        );
      }
    });
};

const printResults = (out: Output, document: object, games: readonly (GameDecision | GameUndo)[]): void =>
  out.list(
    document,
    games,
    [
      ['game', ({ game_id, revision }) => `${game_id}@${revision}`],
      ['game_name', ({ game }) => game?.game_name.slice(0, 40)],
      ['result', explainResult],
    ],
    'No games.',
  );

/** Prints one decided game: its document and a sentence. */
const printOne = async (sql: Database, out: Output, decided: GameDecision): Promise<ExitCode> => {
  const { game_id, result, game } = decided;
  const current = await requireGame(sql, game_id);
  if (result === 'withdrawn')
    throw new CatalogueError(
      `${game_id} is withdrawn: its application no longer lists it, or was removed. Decide when a listing names it again.`,
    );
  if (result === 'fetching') {
    const why = 'is still being fetched, or not yet in PICTURE_STORE, without which no game is passed';
    const mend = 'Pass it again. If that does not help, the log of the media process says why.';
    throw new CatalogueError(`A picture of ${game_id} ${why}. ${mend}`);
  }
  if (result === 'needs_verdict' || result === 'held')
    throw new CatalogueError(`${game_id} was not passed: ${OBSTACLES[result]}.`);
  if (!DONE.includes(result))
    throw new CatalogueError(
      `Nothing was decided on ${game_id}: ${explainResult(decided)}. Read it with npx catalogue game show ${game_id}, then decide again.`,
    );
  const undo = game?.last == null ? [] : [`Undo: npx catalogue game undo ${game.last.audit_id} --by NAME`];
  out.answer(
    toGameDocument(current),
    `${current.game_name}: ${current.audit_status} at revision ${current.revision}.`,
    ...(result === 'decided' ? undo : []),
  );
  return EXIT.done;
};

const toResultDocument = <Result extends GameDecision | GameUndo>({ game, ...each }: Result) => ({
  ...each,
  game_name: game?.game_name ?? null,
  audit_status: game?.audit_status ?? null,
  current_revision: game?.revision ?? null,
});

const printBatch = (out: Output, { batch_id, games }: DecidedBatch): ExitCode => {
  printResults(out, { batch_id, games: games.map(toResultDocument) }, games);
  if (batch_id !== null) out.line(`Undo: npx catalogue game undo ${batch_id} --by NAME`);
  return exitCodeOf(games);
};

/** Adds the revision of each game, which the operator confirms on a terminal, after the game was shown. */
const confirmRevisions = async (
  sql: Database,
  out: Output,
  games: readonly NamedGame[],
  verb: string,
): Promise<SeenRevision[]> => {
  const seen: SeenRevision[] = [];
  for (const { prefix, revision } of games) {
    const game_id = await requireId(sql, 'games', prefix);
    if (revision !== undefined) {
      seen.push({ game_id, revision });
      continue;
    }
    if (!isInteractive(out))
      throw new UsageError(
        `Name the revision of ${game_id} that you saw: npx catalogue game show ${game_id} prints the command.`,
      );
    const diff = await compareRevisions(sql, await requireGame(sql, game_id));
    out.styled(describeDiff(diff, out.stdio.stdout.columns));
    if (await askYesNo(out, `${verb} this game at revision ${diff.to}?`))
      seen.push({ game_id, revision: diff.to });
  }
  return seen;
};

const GAMES = ['[games...]', 'the games, each with the revision: 019a…@2', variadic(parseNamedGame)] as const;
const BY = ['--by <who>', 'name of the operator who decides', parseNonEmpty] as const;
const REVISION = [
  '--revision <revision>',
  'revision of the game, if only one is given',
  parseRevision,
] as const;
/** Between a list and the decision on its games, another operator may decide. */
const SEEN = new Option('--seen <status>', 'decide only games that still have this audit_status').choices(
  AUDIT_STATUSES,
);
const NOTE = ['--note <private>', 'a note for operators', parseNonEmpty] as const;
const DETAILS =
  'A decision names the revision that you saw: a game whose content has moved since is not decided, nor is a withdrawn game. Without games, they are read from stdin, one a line, as game list prints them. Exit 3 if some were not decided.';

type Decide = (games: SeenRevision[]) => Promise<DecidedBatch>;

const runDecision = async (
  context: CommandContext,
  given: readonly NamedGame[],
  { verb, revision }: { verb: 'pass' | 'reject'; revision: number | undefined },
  decide: Decide,
): Promise<ExitCode> => {
  if (revision !== undefined && (given.length !== 1 || given[0]?.revision !== undefined))
    throw new UsageError(`--revision names the revision of a single game. ${GAME_AT_REVISION}`);
  const { openDatabase, out } = context;
  const games = given.length > 0 ? given : await readStdin(out);
  if (games.length === 0) throw new UsageError(`No games are given. ${GAME_AT_REVISION}`);
  const sql = await openDatabase();
  const named = games.map((game) => ({ ...game, revision: game.revision ?? revision }));
  const seen = await confirmRevisions(sql, out, named, verb);
  if (verb === 'pass') await fetchMissing(context, seen);
  const decided = seen.length === 0 ? { batch_id: null, games: [] } : await decide(seen);
  const [only] = decided.games;
  return only !== undefined && games.length === 1 ? printOne(sql, out, only) : printBatch(out, decided);
};

/** Defines `game pass`, `game reject` and `game undo`. */
export const registerDecisions = (game: CommandUnknownOpts): void => {
  defineCommand(game, 'pass', {
    summary: 'approve games',
    details: DETAILS,
    examples: [
      'game pass 019a…@2 019b…@1 --by kim',
      'game pass 019a… --revision 2 --by kim',
      'game list --status pending | npx catalogue game pass --seen pending --by kim',
    ],
    parameters: (command) =>
      command
        .argument(...GAMES)
        .requiredOption(...BY)
        .option(...REVISION)
        .addOption(SEEN)
        .option(...NOTE),
    run: (context, given = [], { by, revision, seen, note }) =>
      runDecision(context, given, { verb: 'pass', revision }, (games) =>
        context.operate(passGames, { games, seen_status: seen, note }, { by }),
      ),
  });

  defineCommand(game, 'reject', {
    summary: 'reject games',
    details: `${DETAILS} The application's developer reads the reason (reason list) and the text.`,
    examples: [
      'game reject 019a…@2 --by kim --reason broken_media --text "The icon is missing."',
      'game reject 019a…@1 019b…@1 --by kim --reason duplicate --note "see 019c…"',
    ],
    parameters: (command) =>
      command
        .argument(...GAMES)
        .requiredOption(...BY)
        .requiredOption('--reason <code>', 'why: a code of reason list', parseNonEmpty)
        .option('--text <public>', "a text for the application's developer", parseNonEmpty)
        .addOption(SEEN)
        .option(...NOTE)
        .option(...REVISION),
    run: (context, given = [], { by, revision, seen, note, reason, text: forDeveloper }) =>
      runDecision(context, given, { verb: 'reject', revision }, (games) =>
        context.operate(rejectGames, { games, seen_status: seen, note, reason, text: forDeveloper }, { by }),
      ),
  });

  defineCommand(game, 'undo', {
    summary: 'undo a decision, or all decisions of a batch',
    details:
      'Each game returns to the status that it had before, unless its content has changed or there is a later decision.',
    examples: ['game undo 4711 --by kim', 'game undo 019a2b3c-… --by kim'],
    parameters: (command) =>
      command
        .argument('<decision>', 'the number of a decision (game show), or the id of a batch', parseDecisionId)
        .requiredOption(...BY),
    run: async ({ operate, out }, decision, { by }) => {
      const which = typeof decision === 'number' ? { audit_ids: [decision] } : { batch_id: decision };
      const games = await operate(undoGameDecisions, which, { by });
      printResults(out, { games: games.map(toResultDocument) }, games);
      return exitCodeOf(games);
    },
  });
};
