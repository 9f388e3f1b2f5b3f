import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { COUNT_MAX, type Listed, type ListPage } from '#db/queries/list-page.ts';
import { parseDuration, quoteForShell } from '#src/cli/format.ts';
import type { Column, Output } from '#src/cli/output.ts';
import { parseNonEmpty } from '#src/cli/parsers.ts';
import { UsageError } from '#src/errors.ts';

// The options that lists share. A command lists the ones that it has.

const DURATION_OR_TIME =
  'Give a duration such as 24h or 7d, or a time such as 2026-03-31 or 2026-03-31T14:35:00Z.';

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?))?$/;

/** `new Date` takes 2026-02-30 for 2 March. */
const isDay = (day: string): boolean => {
  const time = new Date(`${day}T00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
};

/** @returns the moment that lies this duration ago, or this time (local if it has no zone) */
export const parseSince = (text: string): Date => {
  const ms = parseDuration(text);
  const [, day = '', clock = '00:00'] = TIME.exec(text) ?? [];
  const time = new Date(Number.isNaN(ms) ? (isDay(day) ? `${day}T${clock}` : Number.NaN) : Date.now() - ms);
  // No list has older times.
  if (time.getFullYear() >= 1970) return time;
  throw new InvalidArgumentError(DURATION_OR_TIME);
};

type Sort<Name extends string> = { sort: Name; descending: boolean };
type Cursor = Sort<string> & { after: readonly [string, string] };

const parseCursor = (text: string): Cursor => {
  try {
    const [order = '', id, value = id] = text.split(',').map(decodeURIComponent);
    if (id !== undefined && value !== undefined)
      return { sort: order.replace(/^-/, ''), descending: order.startsWith('-'), after: [value, id] };
  } catch {
    // A "%" that no list prints.
  }
  throw new InvalidArgumentError('Give a cursor as a list prints it after "next:".');
};

/** Order as `--sort` has it, id and sort value of the last row, which applications may have chosen. */
const formatCursor = ({ sort, descending }: Sort<string>, [value, id]: readonly [string, string]): string =>
  [`${descending ? '-' : ''}${sort}`, id, ...(value === id ? [] : [value])]
    .map((part) => part.replaceAll(/[%,]|[^\p{L}\p{N}\p{P}\p{S} ]/gu, encodeURIComponent))
    .join(',');

export const CURSOR = ['--cursor <cursor>', 'continue a list where "next:" says', parseCursor] as const;
export const NEWEST = ['--newest', 'newest first'] as const;
export const SINCE = [
  '--since <time>',
  'only from this time on (local, if it names no zone), or this long ago: 24h',
  parseSince,
] as const;
export const UNTIL = ['--until <time>', 'only before this time, or this long ago', parseSince] as const;
export const searchIn = (what: string) =>
  ['--search <text>', `only those with this text in ${what}, in any case`, parseNonEmpty] as const;

/** `--sort <column>`: "-" before the name sorts in descending order. */
export const sortBy = <Name extends string>(names: readonly Name[]) =>
  new Option('--sort <column>', `sort by ${names.join(', ')} ("-" before it: descending)`).argParser(
    (text: string): Sort<Name> => {
      const sort = names.find((name) => name === text.replace(/^-/, ''));
      if (sort !== undefined) return { sort, descending: text.startsWith('-') };
      throw new InvalidArgumentError(`Sort by ${names.join(', ')}.`);
    },
  );

/**
 * The page of a list that the options choose.
 * @param order how the list is sorted without options, and with `--newest`
 * @throws UsageError when the cursor belongs to a list in another order
 */
export const choosePage = <Name extends string>(
  options: { limit: number; sort?: Sort<Name>; newest?: true; cursor?: Cursor },
  order: { byDefault: Sort<Name>; newest?: Sort<Name> },
): ListPage<Name> => {
  const { limit, sort, newest, cursor } = options;
  const chosen = sort ?? (newest === true ? order.newest : undefined) ?? order.byDefault;
  if (cursor === undefined) return { ...chosen, limit };
  if (cursor.sort !== chosen.sort || cursor.descending !== chosen.descending)
    throw new UsageError('The cursor belongs to a list in another order: repeat its other options.');
  return { ...chosen, limit, after: cursor.after };
};

/** The command that was typed, with this cursor instead of the one it had. */
const nextCommand = (cursor: string): string => {
  const words = process.argv.slice(2);
  const had = words.indexOf('--cursor');
  if (had !== -1) words.splice(had, 2);
  const others = words.filter((word) => !word.startsWith('--cursor='));
  return ['npx', 'catalogue', ...others, '--cursor', cursor].map(quoteForShell).join(' ');
};

/**
 * Prints a page of a list. If more rows follow, a last line says how many there are and names the next command; with
 * `--json`, the document then has `total` and `next_cursor`.
 * @param name the key of the rows in the JSON document
 */
export const printPage = <Row extends object>(
  out: Output,
  name: string,
  page: ListPage,
  { rows, total, next }: Listed<Row>,
  {
    documents = rows,
    columns,
    empty,
  }: { documents?: readonly object[]; columns: readonly Column<Row>[]; empty: string },
): void => {
  if (next === undefined) {
    out.list({ [name]: documents }, rows, columns, empty);
    return;
  }
  const next_cursor = formatCursor(page, next);
  out.list({ [name]: documents, total, next_cursor }, rows, columns, empty);
  out.line();
  const all = total > COUNT_MAX ? `more than ${COUNT_MAX}` : String(total);
  out.line(`${rows.length} of ${all}, next: ${nextCommand(next_cursor)}`);
};
