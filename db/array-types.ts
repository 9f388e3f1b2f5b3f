import { parse } from 'postgres-array';
import { readTimestamp } from '#db/read-timestamp.ts';

type Serialize = (element: never) => unknown;

/** Quotes every element. A string is a literal that the caller wrote, and null stays null. */
const serializeArray = (elements: unknown, serialize: Serialize): unknown => {
  if (!Array.isArray(elements)) return elements;
  const literals = elements.map((element) => {
    if (Array.isArray(element)) return serializeArray(element, serialize);
    if (element === null) return 'null';
    return `"${String(serialize(element as never))
      .replaceAll('\\', '\\\\')
      .replaceAll('"', '\\"')}"`;
  });
  return `{${literals.join(',')}}`;
};

const arrayOf = <T>(oid: number, read: (text: string) => T, serialize: Serialize = String) => ({
  to: oid,
  from: [oid],
  serialize: (elements: unknown) => serializeArray(elements, serialize),
  parse: (literal: string) => parse(literal, read),
});

const asText = (text: string): string => text;

/**
 * The array types of the statements in this code, by the oid of `pg_type`. The driver can look them up itself
 * (`fetch_types`), but postgres.js 3.4.9 drops that promise, so a connection that breaks in its first query ends the
 * process. https://github.com/porsager/postgres/issues/1192
 */
export const ARRAY_TYPES = {
  integerArray: arrayOf(1007, Number),
  textArray: arrayOf(1009, asText),
  bigintArray: arrayOf(1016, Number),
  timestamptzArray: arrayOf(1185, readTimestamp, (at: Date | string) => new Date(at).toISOString()),
  uuidArray: arrayOf(2951, asText),
};
