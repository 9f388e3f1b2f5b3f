// The operator API: who may call what, what it answers, and what it refuses.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { openapiOperator } from '#src/api/openapi-operator.ts';
import { ROLES } from '#src/contract/roles.ts';
import { LISTS } from '#src/lists/index.ts';
import { operations } from '#src/operations/index.ts';
import { type Filters, fillLists } from '#test/lists/world.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { createDocumentCheck } from '#test/support/openapi.ts';
import { decideGame } from '#test/support/operate.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';

const api = useOperatorApi();
const checkBody = createDocumentCheck(openapiOperator()).answer;
let filters: Filters;
let every: string;
beforeAll(async () => {
  filters = await fillLists(api.database.sql);
  every = (await api.addToken('every', ...ROLES)).token;
});

type Schema = { 'application/json': { schema: { properties?: object } } };
type Described = { post: { requestBody?: { content: Schema } } };

const pathOf = (name: string): string => ENDPOINTS.find((each) => each.name === name)?.path ?? '';

test('has one path for each operation and each list', () => {
  expect(new Set(ENDPOINTS.map(({ path }) => path)).size).toBe(ENDPOINTS.length);
  const acts = [...operations.values()]
    .filter(({ right }) => right !== 'system' && right !== 'application')
    .map(({ name }) => name);
  const names = [...acts, ...LISTS.map(({ name }) => name), 'event.list', 'game.show'];
  expect(ENDPOINTS.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test('names its own document where there is no operation', async () => {
  const response = await fetch(`${api.url}/operator-api/run/lists`, { method: 'POST' });
  expect(await response.json()).toMatchObject({
    ret_code: 40401,
    ret_msg: 'There is no operation at this path: /operator-docs lists the operations.',
  });
});

describe.each(LISTS.map((list) => [list.name, list] as const))('the list %s', (name, list) => {
  test('has the rows of the command line, each field in its row, page by page', async () => {
    for (const filter of filters[name] ?? [{}]) {
      const all = await api.call(every, name, { filter, limit: 1_000 });
      expect(all.body.ret_msg).toBe('success');
      checkBody(pathOf(name), 200, all.body);
      const rows: object[] = all.body.data.list;
      for (const row of rows)
        expect(Object.keys(list.row.shape)).toEqual(expect.arrayContaining(Object.keys(row)));
      const read: object[] = [];
      let cursor: string | undefined;
      do {
        const page = await api.call(every, name, { filter, limit: Math.ceil(rows.length / 3) || 1, cursor });
        read.push(...page.body.data.list);
        cursor = page.body.data.next ?? undefined;
      } while (cursor !== undefined);
      expect(read).toEqual(rows);
    }
  });
  test('refuses a field that it does not know, and another sort', async () => {
    const [filter = {}] = filters[name] ?? [{}];
    for (const body of [
      { filter: { ...filter, nonsense: 1 } },
      { filter, nonsense: 1 },
      { filter, sort: 'x' },
    ])
      expect((await api.call(every, name, body)).body.ret_code).toBe(40001);
  });
});

test('takes the cursor of a failure whose game has the longest id, in characters that a cursor encodes', async () => {
  const { sql } = api.database;
  await addApplication(sql, 'longest');
  for (const mark of ['\u{e0100}', '\u{e0101}'])
    await sql`
      insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
      values ('longest', 'query_game_detail', ${mark.repeat(512)}, 'invalid', '[]')`;
  const page = async (cursor?: string) => {
    const { body } = await api.call(every, 'failure.list', {
      filter: { application_id: 'longest' },
      limit: 1,
      cursor,
    });
    expect(body.ret_msg).toBe('success');
    return body.data as { list: { application_game_id: string }[]; next: string };
  };
  const first = await page();
  const second = await page(first.next);
  expect(second.list).toHaveLength(1);
  expect(second.list).not.toEqual(first.list);
});

test('game.show has the content of each revision, and the status of now', async () => {
  const { sql } = api.database;
  await addApplication(sql, 'shown');
  const game = fetchedGame({ game_id: 'g-1' });
  await upsertGames(sql, 'shown', [game]);
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await upsertGames(sql, 'shown', [fetchedGame({ game_id: 'g-1', game_info: 'Later.' }, new Date())]);
  const show = (body: object) => api.call(every, 'game.show', body);
  const first = await show({ game_id: game.game_id, revision: 1 });
  checkBody(pathOf('game.show'), 200, first.body);
  const about = { game_id: game.game_id, application_id: 'shown', application_game_id: 'g-1' };
  const now = { audit_status: 'pending', audit_time: '', withdrawn: false };
  expect(first.body.data).toEqual({
    ...about,
    ...now,
    revision: 1,
    game_package_url: '',
    game_name: game.game_name,
    game_icon: game.game_icon,
    game_desc: game.game_desc,
    game_store_video: game.game_store_video,
    game_store_pic: game.game_store_pic,
  });
  expect((await show({ game_id: game.game_id })).body.data).toMatchObject({
    revision: 2,
    game_desc: 'Later.',
  });
  expect((await show({ game_id: game.game_id, revision: 3 })).body.ret_code).toBe(40402);
  expect((await show({ game_id: randomUUID() })).body.ret_code).toBe(40402);
  expect((await show({ game_id: 'g-1' })).body.ret_code).toBe(40001);
});

test('says in plain English what is wrong with a field, without the words of the validator', async () => {
  const said = new Set<string>();
  for (const [path, { post }] of Object.entries(openapiOperator().paths as Record<string, Described>)) {
    const fields = Object.keys(post.requestBody?.content['application/json'].schema.properties ?? {});
    const name = ENDPOINTS.find((each) => each.path === path)?.name ?? '';
    for (const wrong of [undefined, -1, 1.5, 'x']) {
      const { body } = await api.call(every, name, Object.fromEntries(fields.map((field) => [field, wrong])));
      if (body.ret_code === 40001) said.add(body.ret_msg);
    }
  }
  expect(said.size).toBeGreaterThan(100);
  const words = /\b(?:Invalid|expected|received|undefined|Too (?:small|big))\b/;
  expect([...said].filter((text) => words.test(text))).toEqual([]);
});

test('a sentence about a field follows its name and a colon', async () => {
  const { body } = await api.call(every, 'audit.list', { filter: { action: 'nonsense' } });
  expect(body.ret_msg).toMatch(/^filter\.action: There is no such action\. Actions: /);
});
