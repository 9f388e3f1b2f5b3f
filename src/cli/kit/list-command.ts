import { Argument, type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import { COUNT_MAX } from '#db/queries/list-page.ts';
import { defineCommand, type Help, type Json } from '#src/cli/kit/command.ts';
import { formatAge, quoteForShell } from '#src/cli/kit/format.ts';
import { parseGame } from '#src/cli/kit/named-game.ts';
import type { Column as TableColumn } from '#src/cli/kit/output.ts';
import { integerUpTo } from '#src/cli/kit/parsers.ts';
import { checkListFilter } from '#src/cli/kit/require-application.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { ISSUE_WORDS } from '#src/contract/issue-words.ts';
import { coerceError, UsageError } from '#src/errors.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { parseSince } from '#src/lib/since.ts';
import { type Control, controlOf, controlsOf, isRequired } from '#src/lists/filters.ts';
import { type Column, columnsFor, type List, toDocument } from '#src/lists/list.ts';
import { emptySentence, type ReadPage, readList } from '#src/lists/read.ts';

/** Repeats the typed command with another cursor. */
const nextCommand = (argv: readonly string[], cursor: string): string => {
  const words = [...argv];
  const had = words.indexOf('--cursor');
  if (had !== -1) words.splice(had, 2);
  const others = words.filter((word) => !word.startsWith('--cursor='));
  return ['npx', 'catalogue', ...others, '--cursor', cursor].map(quoteForShell).join(' ');
};

/** An option of the command line. The filter checks its value. */
const toOption = ({ kind, name, description, values }: Control): Option => {
  const value = kind === 'application' ? 'application_id' : kind;
  const option = new Option(kind === 'flag' ? `--${name}` : `--${name} <${value}>`, description);
  return kind === 'choice' && values !== undefined ? option.choices(values) : option;
};

/** Converts a column for the terminal. A column of kind `age` shows ages, as a page does. */
const toTableColumn = <Row>(column: Column<Row>): TableColumn<Row> => [
  column.key,
  (row) => {
    const shown = column.value(row);
    if (column.kind === 'age' && shown instanceof Date) return formatAge(shown);
    return column.kind === 'duration' && typeof shown === 'number' ? formatDuration(shown) : shown;
  },
];

/** Returns the columns that a terminal shows of a list. @param keys the columns to show; by default those of the list */
export const terminalColumns = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  { columns }: List<Row, Filter, Sort>,
  keys?: readonly string[],
): TableColumn<Row>[] => columnsFor(columns, 'terminal', keys).map(toTableColumn);

type PageOptions = Json & { limit: number; sort?: string; newest?: true; cursor?: string };

/** Reads what was typed for a filter. Ids may be cut short, and times are local. */
const readTyped = async (
  openDatabase: () => Promise<Database>,
  { kind, table }: Control,
  text: unknown,
): Promise<unknown> => {
  if (typeof text !== 'string') return text;
  if (kind === 'time') return parseSince(text);
  if (kind !== 'id') return text;
  const prefix = table === 'games' ? parseGame(text) : parseShortId(text);
  return table === undefined ? prefix : requireId(await openDatabase(), table, prefix);
};

const nameOf = ({ name, isArgument }: Control): string => (isArgument ? name : `--${name}`);

/** Reads the filter of the options. @throws UsageError that names the option */
const readFilter = async <Filter extends z.ZodObject>(
  filter: Filter,
  openDatabase: () => Promise<Database>,
  given: Record<string, unknown>,
): Promise<z.infer<Filter>> => {
  const typed: Record<string, unknown> = {};
  for (const [key, control] of controlsOf(filter)) {
    try {
      typed[key] = await readTyped(openDatabase, control, given[key]);
    } catch (thrown) {
      const error = coerceError(thrown);
      const isInvalid = error instanceof RangeError || error instanceof InvalidArgumentError;
      throw isInvalid ? new UsageError(`${nameOf(control)}: ${error.message}`) : error;
    }
  }
  const parsed = filter.safeParse(typed, ISSUE_WORDS);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
  const [key] = path;
  throw new UsageError(key === undefined ? message : `${nameOf(controlOf(filter, String(key)))}: ${message}`);
};

/** Describes the rest of a list, in a line below a page that is not the last. */
const describeRest = (
  nouns: readonly string[],
  { rows, total }: ReadPage<object>,
  command: string,
): string => {
  const [, many = ''] = nouns;
  const all = total !== null && total > COUNT_MAX ? `more than ${COUNT_MAX}` : total;
  const shown = all === null ? `${rows.length} ${many}` : `${rows.length} of ${all}`;
  return `${shown}, next: ${command}`;
};

/**
 * Defines the command of a list. If more rows follow, a last line says how many there are and names the next command;
 * with `--json`, the document then has `total` and `next_cursor`. An `application_id` of the filter must be known.
 */
export const defineListCommand = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  parent: CommandUnknownOpts,
  name: string,
  list: List<Row, Filter, Sort>,
  {
    limit,
    newest,
    ...help
  }: Help & {
    limit: { max: number; byDefault: number };
    /** How `--newest` sorts. Absent: there is no such option. */
    newest?: `-${NoInfer<Sort>}`;
  },
): void => {
  const controls = controlsOf(list.filter);
  const argument = controls.find(([, { isArgument }]) => isArgument);
  defineCommand<[string | undefined], PageOptions>(parent, name, {
    paged: true,
    ...help,
    parameters: (plain) => {
      const command: CommandUnknownOpts = plain;
      for (const [key, control] of controls) {
        const brackets = isRequired(list.filter, key) ? `<${key}>` : `[${key}]`;
        if (control.isArgument) command.addArgument(new Argument(brackets, control.description));
        else command.addOption(toOption(control));
      }
      if (list.sorts.length > 0)
        command.option('--sort <column>', `sort by ${list.sorts.join(', ')} ("-" before it: descending)`);
      if (newest !== undefined) command.option('--newest', 'newest first');
      command
        .option('--limit <rows>', 'maximum number of rows', integerUpTo(limit.max), limit.byDefault)
        .option('--cursor <cursor>', 'continue a list where "next:" says');
      return command as never;
    },
    run: async ({ argv, openDatabase, openQueues, out }, ...given) => {
      const options = given.at(-1) as PageOptions & Record<string, unknown>;
      const typed = Object.fromEntries(
        controls.map(([key, { name: option }]) => [
          key,
          key === argument?.[0] ? given[0] : options[new Option(`--${option}`).attributeName()],
        ]),
      );
      const filter = await readFilter(list.filter, openDatabase, typed);
      const sql = await openDatabase();
      if (typeof filter.application_id === 'string') await checkListFilter(sql, filter.application_id);
      const sources = { sql, producer: async () => (await openQueues()).producer };
      const sort = options.sort ?? (options.newest ? newest : undefined);
      const read = await readList(list, sources, filter, { ...options, sort });
      const { rows, total, cursor } = read;
      const { nouns, plural = nouns[1] } = list;
      const documents = rows.map((row) => toDocument(list, row));
      const rest = cursor === undefined ? {} : { ...(total !== null && { total }), next_cursor: cursor };
      const empty = emptySentence(list, filter, cursor !== undefined);
      out.list({ [plural]: documents, ...rest }, rows, terminalColumns(list), empty);
      if (cursor === undefined) return;
      out.line();
      out.line(describeRest(nouns, read, nextCommand(argv, cursor)));
    },
  });
};
