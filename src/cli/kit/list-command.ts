import {
  type Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { COUNT_MAX, type Listed, type ListPage } from '#db/queries/list-page.ts';
import { defineCommand, type Help, type Json } from '#src/cli/kit/command.ts';
import { quoteForShell } from '#src/cli/kit/format.ts';
import type { Column } from '#src/cli/kit/output.ts';
import { integerBetween } from '#src/cli/kit/parsers.ts';
import { checkListFilter } from '#src/cli/kit/require-application.ts';
import { UsageError } from '#src/errors.ts';

type Sort = { sort: string; descending: boolean };
type Cursor = Sort & { after: readonly [string, string] };

/** @param text a column, with "-" before it in descending order */
const toSort = (text: string): Sort => ({
  sort: text.replace(/^-/, ''),
  descending: text.startsWith('-'),
});

const parseCursor = (text: string): Cursor => {
  try {
    const [order = '', id, value = id] = text.split(',').map(decodeURIComponent);
    if (id !== undefined && value !== undefined) return { ...toSort(order), after: [value, id] };
  } catch {
    // A "%" that no list prints.
  }
  throw new InvalidArgumentError('Give a cursor as a list prints it after "next:".');
};

/** Order as `--sort` has it, id and sort value of the last row, which applications may have chosen. */
const formatCursor = ({ sort, descending }: Sort, [value, id]: readonly [string, string]): string =>
  [`${descending ? '-' : ''}${sort}`, id, ...(value === id ? [] : [value])]
    .map((part) => part.replaceAll(/[%,]|[^\p{L}\p{N}\p{P}\p{S} ]/gu, encodeURIComponent))
    .join(',');

/** `--sort <column>`: "-" before the name sorts in descending order. */
const sortBy = (names: readonly string[]) =>
  new Option('--sort <column>', `sort by ${names.join(', ')} ("-" before it: descending)`).argParser(
    (text) => {
      const sort = toSort(text);
      if (names.includes(sort.sort)) return sort;
      throw new InvalidArgumentError(`Sort by ${names.join(', ')}.`);
    },
  );

/** The command that was typed, with this cursor instead of the one it had. */
const nextCommand = (argv: readonly string[], cursor: string): string => {
  const words = [...argv];
  const had = words.indexOf('--cursor');
  if (had !== -1) words.splice(had, 2);
  const others = words.filter((word) => !word.startsWith('--cursor='));
  return ['npx', 'catalogue', ...others, '--cursor', cursor].map(quoteForShell).join(' ');
};

type PageOptions = { limit: number; sort?: Sort; newest?: true; cursor?: Cursor };

/** A column, with "-" before it in descending order. */
type SortText<Name extends string> = NoInfer<Name | `-${Name}`>;

/**
 * Defines a command that prints one page of a list. If more rows follow, a last line says how many there are and names
 * the next command; with `--json`, the document then has `total` and `next_cursor`. An `application_id` of the filter
 * must be known.
 */
export const defineList = <
  Row extends object,
  Filter extends object,
  Name extends string,
  Arguments extends unknown[],
  Options extends Json,
>(
  parent: CommandUnknownOpts,
  name: string,
  definition: Help & {
    /** Adds the arguments and options that filter the list. */
    parameters: (command: Command<[], Json>) => Command<Arguments, Options>;
    filter: (...given: [...Arguments, Options]) => NoInfer<Filter>;
    list: (sql: Database, filter: Filter, page: ListPage<Name>) => Promise<Listed<Row>>;
    /** How the list is sorted without options. */
    order: SortText<Name>;
    /** How `--newest` sorts it, and the columns of `--sort`. Absent: there is no such option. */
    newest?: SortText<Name>;
    sorts?: readonly NoInfer<Name>[];
    limit: { max: number; byDefault: number };
    /** The key of the rows in the JSON document. */
    key: string;
    /** A row in the JSON document, by default as it was read. */
    toDocument?: (row: NoInfer<Row>) => object;
    columns: readonly Column<NoInfer<Row>>[];
    empty: string;
  },
): void => {
  const { parameters, filter: toFilter, list, order, newest, sorts, limit, key, ...rest } = definition;
  const { toDocument = (row) => row, columns, empty, ...help } = rest;
  defineCommand<Arguments, Options>(parent, name, {
    paged: true,
    ...help,
    parameters: (command) => {
      const filtered = parameters(command);
      if (sorts !== undefined) filtered.addOption(sortBy(sorts));
      if (newest !== undefined) filtered.option('--newest', 'newest first');
      filtered
        .option('--limit <rows>', 'maximum number of rows', integerBetween(1, limit.max), limit.byDefault)
        .option('--cursor <cursor>', 'continue a list where "next:" says', parseCursor);
      return filtered;
    },
    run: async ({ argv, openDatabase, out }, ...given) => {
      const { limit: rowsMax, sort, newest: isNewest, cursor } = given.at(-1) as unknown as PageOptions;
      const chosen = sort ?? toSort(isNewest === true && newest !== undefined ? newest : order);
      if (cursor !== undefined && (cursor.sort !== chosen.sort || cursor.descending !== chosen.descending))
        throw new UsageError('The cursor belongs to a list in another order: repeat its other options.');
      const page = { ...chosen, sort: chosen.sort as Name, limit: rowsMax, after: cursor?.after };
      const filter = toFilter(...given);
      const sql = await openDatabase();
      if ('application_id' in filter && typeof filter.application_id === 'string')
        await checkListFilter(sql, filter.application_id);
      const { rows, total, next } = await list(sql, filter, page);
      const documents = rows.map(toDocument);
      if (next === undefined) return out.list({ [key]: documents }, rows, columns, empty);
      const next_cursor = formatCursor(chosen, next);
      out.list({ [key]: documents, total, next_cursor }, rows, columns, empty);
      out.line();
      const all = total > COUNT_MAX ? `more than ${COUNT_MAX}` : String(total);
      out.line(`${rows.length} of ${all}, next: ${nextCommand(argv, next_cursor)}`);
    },
  });
};
