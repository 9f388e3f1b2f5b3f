import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findRun } from '#db/queries/runs.ts';
import {
  type Answer,
  aFleet,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
  success,
} from '#test/support/hostile-application.ts';

/** Values that are wrong in all ways, and some that are right. */
const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.webUrl(),
  fc.array(fc.oneof(fc.webUrl(), fc.string()), { maxLength: 3 }),
  fc.constantFrom('\u0000', '\ud800', '', 'javascript:0', 'https://[::1', 'http://a'),
);
const fields = ['game_id', 'game_name', 'game_icon', 'game_info', 'game_store_video', 'game_store_pic'];

/** What becomes of a valid envelope: a field changed, text cut and put in, bytes overwritten, a status. */
const mutation = fc.record({
  field: fc.option(fc.record({ name: fc.constantFrom(...fields, '__proto__', 'extra'), value: anyValue })),
  text: fc.option(
    fc.record({ at: fc.nat(), cut: fc.nat(20), put: fc.string({ unit: 'binary', maxLength: 8 }) }),
    { freq: 2 },
  ),
  bytes: fc.option(fc.record({ at: fc.nat(), put: fc.uint8Array({ minLength: 1, maxLength: 3 }) }), {
    freq: 2,
  }),
  status: fc.constantFrom(200, 200, 200, 200, 404, 500),
  retCode: fc.constantFrom<unknown>(0, 0, 0, 0, 0, 1, '0', null),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

const mutate = (data: object, { field, text, bytes, retCode }: Mutation): Buffer => {
  const changed = field === null ? data : { ...data, [field.name]: field.value };
  let source = JSON.stringify({ ret_code: retCode, ret_msg: 'success', data: changed });
  if (text !== null) {
    const at = text.at % source.length;
    source = source.slice(0, at) + text.put + source.slice(at + text.cut);
  }
  const body = Buffer.from(source);
  if (bytes !== null) body.set(bytes.put, bytes.at % (body.length - bytes.put.length));
  return body;
};

const BATCH = 50;
const BATCHES = 60;

test('thousands of mutated envelopes: no worker ends, and every stored game comes from a valid response', async () => {
  const fleet = await aFleet();
  const application = await startHostileApplication(fleet, 'acme', {
    list: () => ({ data: null }),
    detail: () => ({ data: null }),
  });
  let batch = 0;
  let landed = 0;
  const oneRun = async (mutations: Mutation[], strayRows: unknown[], listMutation: Mutation | null) => {
    batch += 1;
    const ids = idsOf(`b${batch}`, mutations.length);
    const bodies = new Map(
      mutations.map((each, index) => [
        ids[index],
        { body: mutate(goodDetail(ids[index] ?? ''), each), status: each.status },
      ]),
    );
    const list = { total: ids.length, list: [...ids.map(goodRow), ...strayRows] };
    const listBody = listMutation === null ? Buffer.from(success(list)) : mutate(list, listMutation);
    const noMore: Answer = { data: { total: ids.length, list: [] } };
    application.behaviour = {
      list: (pageNum) => (pageNum === 1 ? raw(listBody) : noMore),
      detail: (id) => {
        const answer = bodies.get(id);
        return answer === undefined ? { data: null } : raw(answer.body, answer.status);
      },
    };
    const run = await fleet.sync('acme');

    const counted = run.inserted + run.updated + run.unchanged + run.invalid + run.failed + run.missing;
    expect(counted).toBe(run.listed);
    if (listMutation === null) expect(run.outcome).not.toBe('failed');
    const stored = await fleet.sql`
      select application_game_id, game_name, game_icon, game_desc, game_store_video, game_store_pic from games
      where application_game_id = any(${ids})`;
    landed += stored.length;
    for (const { application_game_id, game_desc, ...game } of stored) {
      const source = JSON.parse(bodies.get(application_game_id)?.body.toString() ?? '');
      expect(source.ret_code).toBe(0);
      expect(source.data).toMatchObject({ game_id: application_game_id, game_info: game_desc, ...game });
    }
    if (listMutation !== null) return;
    const quarantinedIds = await fleet.sql<{ id: string }[]>`
      select application_game_id as id from ingest_failures
      where operation = 'query_game_detail' and application_game_id = any(${ids})`;
    expect(stored.length + quarantinedIds.length).toBeGreaterThanOrEqual(ids.length);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(mutation, { minLength: BATCH, maxLength: BATCH }),
      fc.array(anyValue, { maxLength: 5 }),
      fc.option(mutation, { freq: 3 }),
      oneRun,
    ),
    // A batch is a run of its own: shrinking one would take a thousand of them.
    { numRuns: BATCHES, endOnFailure: true },
  );
  expect(landed).toBeGreaterThan(BATCH);
  // The worker is as well as before.
  const run = await fleet.startRun('acme');
  expect(await findRun(fleet.sql, run.run_id)).toBeDefined();
  expect(await fleet.ended(run.run_id)).toBeDefined();
});
