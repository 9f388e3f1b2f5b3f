// Bodies made from the two OpenAPI documents of the API, right ones and spoiled ones: each answer is one that the document
// has, none is a 500, a body that the document forbids is refused, and no answer has a secret.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { openapiOperator } from '#src/api/openapi-operator.ts';
import { openapiPlatform } from '#src/contract/openapi-platform.ts';
import { ROLES } from '#src/contract/roles.ts';
import { fillLists } from '#test/lists/world.ts';
import { post } from '#test/support/api.ts';
import { ACCESS_TOKEN, addApplication } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { createDocumentCheck } from '#test/support/openapi.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';
import { bodiesOf, spoiled } from '#test/support/schema-bodies.ts';

const keys = ringOf(['k1']);
const api = useOperatorApi({ keys: async () => ({ ...keys, records: [] }) });
const { cp_id: _, ...kyc } = PLANTED;
let canaries: string[];
let token: string;
const known: Record<string, unknown[]> = {};

const RUNS = 20;

beforeAll(async () => {
  const { sql } = api.database;
  await fillLists(sql);
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  token = (await api.addToken('every', ...ROLES)).token;
  canaries = [...Object.values(kyc), ACCESS_TOKEN, token];
  const games = await sql<
    { game_id: string; revision: number }[]
  >`select game_id, revision from games limit 20`;
  const ids = await sql<{ run_id: string }[]>`select run_id from sync_runs limit 5`;
  Object.assign(known, {
    application_id: ['acme', 'lantern-works', 'studio-mizu'],
    game_id: games.map(({ game_id }) => game_id),
    game_ids: games.map(({ game_id }) => [game_id]),
    revision: [1],
    games: games.map(({ game_id, revision }) => [{ game_id, revision }]),
    run_id: ids.map(({ run_id }) => run_id),
    login: ['kim', 'lee'],
    subject: [`run:${ids[0]?.run_id}`, 'application:acme', 'operator:kim'],
    cursor: [undefined],
    since: ['2026-01-01T00:00:00Z'],
    until: ['1d'],
    every: ['1h'],
    kyc_every: ['1d'],
    detail_max_age: ['1d'],
    expires: ['30d'],
    url: ['https://copy.example/events'],
    events_webhook: ['https://acme.example/events'],
    name: ['Acme Games'],
    volatile_parameters: [['t']],
    query_game_list_webhook: ['https://acme.example/list'],
    query_game_detail_webhook: ['https://acme.example/detail'],
    query_cp_kyc_webhook: ['https://acme.example/kyc'],
    action: ['game.pass'],
    reason: ['incomplete', 'rights'],
  });
});

const CASES = [openapiOperator(), openapiPlatform()].flatMap((document) => {
  const check = createDocumentCheck(document);
  return Object.entries(document.paths ?? {}).flatMap(([path, { post: operation }]) =>
    operation === undefined ? [] : [{ document, check, path, operation }],
  );
});

test('the documents have every path', () => {
  expect(CASES.length).toBeGreaterThan(70);
});

const accepted = new Set<string>();

test.each(CASES)('$path', async ({ document, check, path, operation }) => {
  const { content } = operation.requestBody as { content: Record<string, { schema: object }> };
  const right = bodiesOf(document, content['application/json']?.schema ?? {}, known);
  const send = async (body: unknown): Promise<void> => {
    const answer = await post(api.url, path, token, body);
    const shown = `${JSON.stringify(body).slice(0, 400)} ${JSON.stringify(answer.body).slice(0, 300)}`;
    expect(answer.status, shown).toBeLessThan(500);
    check.answer(path, answer.status, answer.body);
    if (!check.allows(path, body)) expect(answer.body.ret_code, shown).not.toBe(0);
    if (answer.body.ret_code !== 40001) accepted.add(path);
    for (const canary of canaries) expect(JSON.stringify(answer.body)).not.toContain(canary);
  };
  for (const body of fc.sample(fc.oneof(right, spoiled(right)), { numRuns: RUNS, seed: 1 })) await send(body);
  // A body takes milliseconds to make.
  for (let seed = 0; !accepted.has(path) && seed < 5 * RUNS; seed += 1)
    for (const body of fc.sample(right, { numRuns: 1, seed })) await send(body);
});

test('a body of every path passed its form, and no log has a secret', () => {
  expect(CASES.map(({ path }) => path).filter((path) => !accepted.has(path))).toEqual([]);
  for (const canary of canaries) expect(api.logged.join('\n')).not.toContain(canary);
  expect(api.logged.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});
