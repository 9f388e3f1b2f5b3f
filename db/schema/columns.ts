import { sql } from 'drizzle-orm';
import { type AnyPgColumn, check, customType, timestamp } from 'drizzle-orm/pg-core';
import { IDENTIFIER_MAX, NAME_MAX, URLS_MAX } from '#src/contract/text.ts';

/** Binary columns: hashes and sealed values. */
export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** A time with its time zone. */
export const moment = (name: string) => timestamp(name, { withTimezone: true });

// Checks of values that one process writes and pages of others show, because a stolen login could break those pages by one
// odd value.

const listed = (columns: readonly AnyPgColumn[]) => sql.join([...columns], sql`, `);

/** Numbers that JavaScript has. Applications send totals below 0, and what is left of a budget may be. */
export const areNumbers = (name: string, ...columns: AnyPgColumn[]) =>
  check(
    name,
    sql`least(${listed(columns)}) >= -9007199254740991 and greatest(${listed(columns)}) <= 9007199254740991`,
  );

/** The same for counts and durations, of which none is below 0. */
export const areCounts = (name: string, ...columns: AnyPgColumn[]) =>
  check(name, sql`least(${listed(columns)}) >= 0 and greatest(${listed(columns)}) <= 9007199254740991`);

const SHORT_BYTES = 20_000;

/**
 * Bytes as readers get them. `pg_column_size` tells less, because a JSON number of ten stored bytes has up to 131,072
 * digits, and a list that another table keeps compressed has a hundredth. Columns of a custom type hold bytes.
 */
const sizeOf = (column: AnyPgColumn) =>
  ['string', 'custom'].includes(column.dataType)
    ? sql`octet_length(${column})`
    : sql`octet_length(${column}::text)`;

/**
 * At most `maxBytes` each; the longest text of ours takes 16,000. Readers keep a thousand rows in memory, so a stolen login
 * could end them with a few longer ones.
 */
export const areShort = (name: string, columns: readonly AnyPgColumn[], maxBytes = SHORT_BYTES) =>
  check(name, sql`greatest(${sql.join(columns.map(sizeOf), sql`, `)}) <= ${sql.raw(String(maxBytes))}`);

/** Texts in keys of indexes have at most as many characters as the longest id or name, because an index refuses a text that is too long. */
export const areInKeys = (name: string, ...columns: AnyPgColumn[]) =>
  areShort(name, columns, 4 * Math.max(IDENTIFIER_MAX, NAME_MAX));

/** Times of which Postgres and pages compute durations and days: no infinity, and no year that ISO 8601 lacks. */
export const areTimes = (name: string, ...columns: AnyPgColumn[]) =>
  check(
    name,
    sql`least(${listed(columns)}) >= '1970-01-01Z' and greatest(${listed(columns)}) < '10000-01-01Z'`,
  );

/** Words as literals, which need no escape because ours have no quotes. */
const quoted = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '));

/** One of these words. */
export const isOneOf = (name: string, column: AnyPgColumn, words: readonly string[]) =>
  check(name, sql`${column} in (${quoted(words)})`);

/** Lists of these words alone. */
export const areOf = (name: string, column: AnyPgColumn, words: readonly string[]) =>
  check(name, sql`${column} <@ array[${quoted(words)}]`);

const isFlat = (column: AnyPgColumn) => sql`array_ndims(${column}) = 1 and array_lower(${column}, 1) = 1`;

/** Arrays of one dimension from 1 on, without nulls. Pages show every item. The longest lists of ours are addresses of pictures. */
export const areLists = (name: string, columns: readonly AnyPgColumn[], most = URLS_MAX) =>
  check(
    name,
    sql.join(
      columns.map(
        (column) => sql`(${column} = '{}' or ${isFlat(column)} and array_position(${column}, null) is null
          and cardinality(${column}) <= ${sql.raw(String(most))})`,
      ),
      sql` and `,
    ),
  );

/** Wrapped data keys. */
export const areKeys = (name: string, column: AnyPgColumn) =>
  check(
    name,
    sql`${column} = jsonb_path_query_array(${column},
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and ${sizeOf(column)} <= ${sql.raw(String(SHORT_BYTES))}`,
  );

/** The words that a row is found by. */
export const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
