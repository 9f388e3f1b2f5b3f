import { Argument, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { COUNT_MAX } from '#db/queries/list-page.ts';
import { defineCommand, type Help, type Json } from '#src/cli/kit/command.ts';
import { formatAge, quoteForShell } from '#src/cli/kit/format.ts';
import type { Column as TableColumn } from '#src/cli/kit/output.ts';
import { integerBetween } from '#src/cli/kit/parsers.ts';
import { checkListFilter } from '#src/cli/kit/require-application.ts';
import { UsageError } from '#src/errors.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { nextCursor, toListPage } from '#src/lists/cursor.ts';
import { type Control, controlOf } from '#src/lists/filters.ts';
import { type AnyList, type Column, emptySentence, type List } from '#src/lists/list.ts';

/** The command that was typed, with this cursor instead of the one it had. */
const nextCommand = (cursor: string): string => {
  const words = process.argv.slice(2);
  const had = words.indexOf('--cursor');
  if (had !== -1) words.splice(had, 2);
  const others = words.filter((word) => !word.startsWith('--cursor='));
  return ['npx', 'catalogue', ...others, '--cursor', cursor].map(quoteForShell).join(' ');
};

/** An option of the command line. The filter checks its value. */
const toOption = ({ kind, name, description, values }: Control): Option => {
  const flags =
    kind === 'flag' ? `--${name}` : `--${name} <${kind === 'application' ? 'application_id' : kind}>`;
  const option = new Option(flags, description);
  return values === undefined ? option : option.choices(values);
};

/** A column of the terminal: times are ages, as a page shows them. */
const toTableColumn = <Row>({ key, kind, value }: Column<Row>): TableColumn<Row> => [
  key,
  (row) => {
    const shown = value(row);
    if (kind === 'age' && shown instanceof Date) return formatAge(shown);
    return kind === 'duration' && typeof shown === 'number' ? formatDuration(shown) : shown;
  },
];

/** How a terminal shows the rows of a list. */
export const terminalColumns = <Row extends object, Filter extends z.ZodObject, Sort extends string>({
  columns,
}: List<Row, Filter, Sort>): TableColumn<Row>[] =>
  columns.filter(({ on }) => on !== 'page').map(toTableColumn);

type PageOptions = Json & { limit: number; sort?: string; newest?: true; cursor?: string };

/** @throws UsageError that names each option */
const readFilter = <Filter extends z.ZodObject>(
  filter: Filter,
  given: Record<string, unknown>,
): z.infer<Filter> => {
  const parsed = filter.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { name, isArgument } = controlOf(filter, String(issue?.path[0]));
  throw new UsageError(`${isArgument ? name : `--${name}`}: ${issue?.message}`);
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
    newest?: string;
  },
): void => {
  const keys = Object.keys(list.filter.shape);
  const argumentKey = keys.find((key) => controlOf(list.filter, key).isArgument);
  defineCommand<[string | undefined], PageOptions>(parent, name, {
    paged: true,
    ...help,
    parameters: (plain) => {
      const command: CommandUnknownOpts = plain;
      for (const key of keys) {
        const control = controlOf(list.filter, key);
        if (control.isArgument) command.addArgument(new Argument(`[${key}]`, control.description));
        else command.addOption(toOption(control));
      }
      if (list.sorts.length > 0)
        command.option('--sort <column>', `sort by ${list.sorts.join(', ')} ("-" before it: descending)`);
      if (newest !== undefined) command.option('--newest', 'newest first');
      command
        .option('--limit <rows>', 'maximum number of rows', integerBetween(1, limit.max), limit.byDefault)
        .option('--cursor <cursor>', 'continue a list where "next:" says');
      return command as never;
    },
    run: async ({ openDatabase, out }, ...given) => {
      const options = given.at(-1) as PageOptions & Record<string, unknown>;
      const typed = Object.fromEntries(
        keys.map((key) => {
          const { name: option } = controlOf(list.filter, key);
          return [key, key === argumentKey ? given[0] : options[new Option(`--${option}`).attributeName()]];
        }),
      );
      const filter = readFilter(list.filter, typed);
      const sort = options.sort ?? (options.newest ? newest : undefined);
      const page = toListPage(list as unknown as AnyList, { ...options, sort });
      const sql = await openDatabase();
      if (typeof filter.application_id === 'string') await checkListFilter(sql, filter.application_id);
      const listed = await list.read(sql, filter, page as never);
      const documents = listed.rows.map((row) => list.document?.(row) ?? row);
      const cursor = nextCursor(page, listed);
      const document = {
        [list.plural]: documents,
        ...(cursor && { total: listed.total, next_cursor: cursor }),
      };
      out.list(
        document,
        listed.rows,
        terminalColumns(list),
        emptySentence(list as unknown as AnyList, filter),
      );
      if (cursor === undefined) return;
      out.line();
      const all = listed.total > COUNT_MAX ? `more than ${COUNT_MAX}` : String(listed.total);
      out.line(`${listed.rows.length} of ${all}, next: ${nextCommand(cursor)}`);
    },
  });
};
