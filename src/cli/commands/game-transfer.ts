import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import { type ExportedGame, listExportedGames } from '#db/queries/exports.ts';
import { listHeld } from '#db/queries/holds.ts';
import { listImported, listTakenIds } from '#db/queries/imports.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { APPLICATION, parseNonEmpty } from '#src/cli/kit/parsers.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import {
  checkLine,
  type Line,
  type LinesFile,
  type NumberedLine,
  openLines,
  PROBLEMS_SHOWN,
  parseJsonLine,
  readLines,
  refuseLines,
  type WrongLine,
} from '#src/cli/kit/read-lines.ts';
import { checkListFilter, requireApplication } from '#src/cli/kit/require-application.ts';
import { writeRows } from '#src/cli/kit/write-rows.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import { readPages } from '#src/lib/read-pages.ts';
import { type GameLine, gameLine, IMPORT_MAX, importGames } from '#src/operations/imports.ts';

/** Games of one read. */
const PAGE = 1_000;

/** @returns the game of a line, or what is wrong with it */
const parseLine = (text: NumberedLine, application_id: string): Line<GameLine> => {
  const parsed = checkLine(gameLine, parseJsonLine(text));
  const of = 'problem' in parsed ? undefined : parsed.record.application_id;
  if (of === undefined || of === application_id) return parsed;
  return { line: parsed.line, problem: `application_id is ${of}, not ${application_id}` };
};

/** Splits what comes one by one into batches. */
async function* inBatches<Item>(
  items: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<Item[], void, void> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Reads the whole file and changes nothing.
 * @returns how many games it has, and how many of them are stored already
 * @throws UsageError that names the first wrong lines
 */
const checkFile = async (
  sql: Database,
  application_id: string,
  file: LinesFile,
): Promise<{ games: number; existing: number }> => {
  const reasons = new Set((await listReasons(sql)).map(({ code }) => code));
  const lines = new Map<string, number>();
  const ids = new Set<string>();
  const problems: WrongLine[] = [];
  let wrong = 0;
  let existing = 0;
  const refuse = (problem: WrongLine): void => {
    wrong += 1;
    if (problems.length < PROBLEMS_SHOWN) problems.push(problem);
  };
  for await (const batch of inBatches(readLines(file), IMPORT_MAX)) {
    const named: { line: number; game_id: string; application_game_id: string }[] = [];
    const own: string[] = [];
    for (const text of batch) {
      const read = parseLine(text, application_id);
      if ('problem' in read) {
        refuse(read);
        continue;
      }
      const { line, record: game } = read;
      const { application_game_id, game_id, reason } = game;
      const first = lines.get(application_game_id);
      if (first !== undefined) refuse({ line, problem: `names the game of line ${first} again` });
      else if (game_id !== undefined && ids.has(game_id))
        refuse({ line, problem: `game_id ${game_id} is that of an earlier line` });
      else if (reason !== undefined && !reasons.has(reason))
        refuse({ line, problem: `reason ${reason} is unknown: add it with reason add` });
      lines.set(application_game_id, line);
      own.push(application_game_id);
      if (game_id === undefined) continue;
      ids.add(game_id);
      named.push({ line, game_id, application_game_id });
    }
    const taken = new Set(await listTakenIds(sql, application_id, named));
    for (const { line, game_id } of named)
      if (taken.has(game_id)) refuse({ line, problem: `game_id ${game_id} is of another game` });
    existing += (await listImported(sql, application_id, own)).length;
  }
  if (wrong > 0) throw refuseLines(`${file.name} was not imported, nothing was changed.`, problems, wrong);
  return { games: lines.size, existing };
};

/** Imports a file that was checked, in transactions of a thousand games. */
const importFile = async (
  { operate, out }: CommandContext,
  application_id: string,
  file: LinesFile,
  by: string,
  total: number,
) => {
  const sums = { imported: 0, decided: 0, waiting: 0, existing: 0 };
  const progress = openProgress(out, [file.name], 'games');
  let done = 0;
  const importBatch = async (games: GameLine[]): Promise<void> => {
    const result = await operate(importGames, { application_id, games }, { by });
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += result[key];
    done += games.length;
    progress?.update(file.name, done, total);
  };
  // One batch is checked and hashed while Postgres writes the other.
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of inBatches(readLines(file), IMPORT_MAX)) {
      const games = batch.map((text) => {
        const read = parseLine(text, application_id);
        if ('problem' in read)
          throw new UsageError(`${file.name} was changed meanwhile: line ${read.line} ${read.problem}`);
        return read.record;
      });
      const next = importBatch(games);
      // Its error is thrown where it is awaited.
      next.catch(() => {});
      await writing;
      writing = next;
    }
    await writing;
  } finally {
    await writing.catch(() => {});
    progress?.stop();
  }
  return sums;
};

/** A game as a line, without what is null. */
const toLine = (game: ExportedGame): object =>
  Object.fromEntries(Object.entries(game).filter(([, value]) => value !== null));

/** The lines of these applications, page by page. */
async function* exportPages(
  sql: Database,
  application_ids: readonly string[],
  status: AuditStatus | undefined,
): AsyncGenerator<object[], void, void> {
  for (const application_id of application_ids) {
    const read = (last?: ExportedGame) =>
      listExportedGames(sql, { application_id, status, after: last?.application_game_id ?? '' }, PAGE);
    for await (const games of readPages(PAGE, read)) yield games.map(toLine);
  }
}

const FILE = ['--file <path>', 'one JSON object a line ("-": stdin)', parseNonEmpty] as const;

/** Defines `game import` and `game export`. */
export const registerTransfer = (game: CommandUnknownOpts): void => {
  defineCommand(game, 'import', {
    summary: 'store the games of another catalogue, with their decisions',
    details:
      'Each line is one game, as game export writes it: application_game_id and audit_status; of a decided game audit_time, and if known decided_by, reason and text; the content, whole or not at all; optionally game_id, a UUID of yours, and game_package_url. A game without content waits for its first pull, whose content is then what was decided on. A file with a wrong line is not imported at all; the error names the lines. A game that is stored already stays as it is, so an import that was interrupted can run again.',
    examples: [
      'game import --application acme --file games.ndjson --dry-run --by kim',
      'game import --application acme --file games.ndjson --by kim',
    ],
    parameters: (command) =>
      command
        .requiredOption('--application <application_id>', 'the application of the games', APPLICATION[2])
        .requiredOption(...FILE)
        .requiredOption('--by <who>', 'name of the operator', parseNonEmpty)
        .option('--dry-run', 'check the file and change nothing'),
    run: async (context, { application, file: path, by, dryRun }) => {
      const { openDatabase, out } = context;
      const sql = await openDatabase();
      await requireApplication(sql, application);
      await using file = await openLines(path, out.stdio.stdin);
      const { games, existing } = await checkFile(sql, application, file);
      if (dryRun) {
        const checked = { games, existing, would_import: games - existing };
        out.answer(
          checked,
          `${formatCount(games, 'game')}, every line is right. ${existing} stored already, ${games - existing} would be imported.`,
        );
        return;
      }
      const result = await importFile(context, application, file, by, games);
      const { imported, decided, waiting, existing: stored } = result;
      const became = `${decided} decided, ${imported - decided - waiting} pending, ${waiting} wait for their first pull`;
      out.answer(result, `${imported} imported: ${became}. ${stored} were stored already.`);
    },
  });

  defineCommand(game, 'export', {
    summary: 'print games with their decisions, one JSON object a line',
    details:
      'As game import reads them: of every game the current content and the decision that stands. Withdrawn games have withdrawn_at. A game that a hold returned to pending is exported as after the release: the file has no hold.',
    examples: ['game export > games.ndjson', 'game export --application acme --status passed'],
    parameters: (command) =>
      command
        .option('--application <application_id>', 'only games of this application', APPLICATION[2])
        .addOption(
          new Option('--status <status>', 'only games of this audit_status').choices(AUDIT_STATUSES),
        ),
    run: async ({ openDatabase, out }, { application, status }) => {
      const sql = await openDatabase();
      await checkListFilter(sql, application);
      const ids =
        application === undefined
          ? (await listApplications(sql)).map((row) => row.application_id)
          : [application];
      for (const held of await listHeld(sql, ids))
        out.note(
          `An operator holds ${held}: its games are exported with the decisions that stand, as after a release.`,
        );
      await writeRows(out, 'ndjson', [], exportPages(sql, ids, status));
    },
  });
};
