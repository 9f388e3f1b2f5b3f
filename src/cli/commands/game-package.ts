import type { Readable } from 'node:stream';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { parse } from 'csv-parse/sync';
import type { PackageUrl } from '#db/queries/package-urls.ts';
import { requireGame, toGameDocument } from '#src/cli/commands/game-text.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { parseGame } from '#src/cli/kit/named-game.ts';
import { parseNonEmpty } from '#src/cli/kit/parsers.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import { nameInput, readInput, refuseInput } from '#src/cli/kit/read-input.ts';
import { checkLine, type Line, parseJsonLine, refuseLines, type WrongLine } from '#src/cli/kit/read-lines.ts';
import { requireId } from '#src/cli/kit/short-id.ts';
import { URL_MAX } from '#src/contract/text.ts';
import { EXIT, type ExitCode, UsageError } from '#src/errors.ts';
import {
  type PackageResult,
  packageUrl,
  setPackageUrls,
  UnknownGamesError,
} from '#src/operations/package-urls.ts';

/** The records of a file: NDJSON, or CSV with a header. @throws an error of the parser that names the line */
const parseLines = (text: string): Line[] => {
  if (text.trimStart().startsWith('{'))
    return text
      .split('\n')
      .flatMap((text, index) => (text.trim() === '' ? [] : parseJsonLine({ line: index + 1, text })));
  const options = { columns: true, skip_empty_lines: true, trim: true, info: true } as const;
  const rows = parse(text, options) as unknown as { record: unknown; info: { lines: number } }[];
  return rows.map(({ record, info }) => ({ line: info.lines, record }));
};

const refuseFile = (path: string, problems: readonly WrongLine[]): UsageError =>
  refuseLines(
    `${nameInput(path)} was not applied, nothing was changed. Each record has game_id and game_package_url; "" clears the URL.`,
    problems,
  );

/**
 * Reads games with their package URLs from a file.
 * @returns the URLs, and the line of each game
 * @throws UsageError that names every wrong line
 */
const readPackageUrls = async (
  path: string,
  stdin: Readable,
): Promise<{ urls: PackageUrl[]; lines: Map<string, number> }> => {
  const text = await readInput(path, stdin);
  let read: Line[];
  try {
    read = parseLines(text);
  } catch (error) {
    throw refuseInput(path, error);
  }
  const urls: PackageUrl[] = [];
  const lines = new Map<string, number>();
  const problems = read.flatMap((each) => {
    const checked = checkLine(packageUrl, each);
    if ('problem' in checked) return [checked];
    const { line, record } = checked;
    const first = lines.get(record.game_id);
    if (first !== undefined) return [{ line, problem: `the game is named twice, first in line ${first}` }];
    lines.set(record.game_id, line);
    urls.push(record);
    return [];
  });
  if (problems.length > 0) throw refuseFile(path, problems);
  return { urls, lines };
};

const parsePackageUrl = (text: string): string => {
  const { data } = packageUrl.shape.game_package_url.safeParse(parseNonEmpty(text));
  if (data !== undefined) return data;
  throw new InvalidArgumentError(`Give an http or https URL with at most ${URL_MAX} characters.`);
};

/** Applies a file as a whole. */
const applyFile = async (
  { operate, out }: CommandContext,
  path: string,
  by: string,
): Promise<PackageResult> => {
  const { urls, lines } = await readPackageUrls(path, out.stdio.stdin);
  const name = nameInput(path);
  const progress = openProgress(out, [name], 'games');
  const onProgress = (done: number, total: number) => progress?.update(name, done, total);
  try {
    return await operate(setPackageUrls, { urls, all_must_exist: true }, { by, onProgress });
  } catch (error) {
    if (!(error instanceof UnknownGamesError)) throw error;
    const unknown = error.game_ids.map((id) => ({
      line: lines.get(id) ?? 0,
      problem: `there is no game ${id}`,
    }));
    throw refuseFile(path, unknown);
  } finally {
    progress?.stop();
  }
};

/** Defines `game package`. */
export const registerPackage = (game: CommandUnknownOpts): void =>
  defineCommand(game, 'package', {
    summary: 'set the package URL that game.queryDetail serves',
    details:
      'It is no content: no revision and no status changes. --from reads many: CSV with the header game_id,game_package_url, or one JSON object a line. A file with a wrong line is not applied at all; the error names the lines.',
    examples: [
      'game package 019a… --url https://cdn.example/game.zip --by kim',
      'game package 019a… --clear --by kim',
      'game package --from packages.csv --by kim',
    ],
    parameters: (command) =>
      command
        .argument('[game_id]', 'the game', parseGame)
        .option('--url <url>', 'the address, http or https', parsePackageUrl)
        .option('--clear', 'remove the address')
        .option('--from <file>', 'read games and addresses from this file ("-": stdin)', parseNonEmpty)
        .requiredOption('--by <who>', 'name of the operator', parseNonEmpty),
    run: async (context, prefix, { url, clear, from, by }): Promise<ExitCode> => {
      const { openDatabase, operate, out } = context;
      const isOne = prefix !== undefined && from === undefined && (url === undefined) === (clear === true);
      if (!isOne && (from === undefined || prefix !== undefined || url !== undefined || clear === true))
        throw new UsageError('Give a game with --url or --clear, or a file with --from.');
      if (prefix !== undefined) {
        const sql = await openDatabase();
        const game_id = await requireId(sql, 'games', prefix);
        await operate(setPackageUrls, { urls: [{ game_id, game_package_url: url ?? '' }] }, { by });
        const row = await requireGame(sql, game_id);
        const text = row.game_package_url === '' ? 'no package URL' : row.game_package_url;
        out.answer(toGameDocument(row), `${row.game_name}: ${text}`);
        return EXIT.done;
      }
      const result = await applyFile(context, from ?? '', by);
      out.answer(result, `${result.changed.length} changed, ${result.unchanged.length} unchanged.`);
      return EXIT.done;
    },
  });
