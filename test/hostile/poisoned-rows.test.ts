// Rows that a stolen login wrote are shown, and break no page of the others.
import { beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';

const api = useOperatorApi();
const { database, served: site } = api;
let cookie: string;

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  await addTestOperator(sql, 'adam', 'admin', 'reviewer');
  cookie = await signIn(site.url, 'adam');
});

const open = (path: string) => fetch(new URL(path, site.url), { headers: { cookie } });

test.each(['javascript:alert(1)', 'ms-msdt:/id', 'file:///etc/passwd'])(
  'a page links to no address such as %s, which a stolen worker may store',
  async (address) => {
    const game = fetchedGame({ game_id: address, game_store_video: address });
    await upsertGames(database.as('worker'), 'acme', [game]);
    const page = await (await open(`/games/${game.game_id}`)).text();
    expect(page).toContain(`<p class="mono soft">${address}</p>`);
    expect(page).not.toContain(`href="${address}`);
  },
);

test.each(['infinity', '-infinity', '294276-12-31', '4713-01-01 BC'])(
  'a time such as %s, which a stolen worker may store, ends no page and no answer',
  async (time) => {
    const { sql } = database;
    const stored = { details_due_at: time, details_full_at: time, updated_at: time };
    await database.as('worker')`update applications set ${sql(stored)} where application_id = 'acme'`;
    const game = fetchedGame({ game_id: `of-${time}` });
    await upsertGames(database.as('worker'), 'acme', [game]);
    for (const path of ['/', '/applications', '/applications/acme', `/games/${game.game_id}`])
      expect([path, (await open(path)).status]).toEqual([path, 200]);
    const [row] = await sql<{ times: Date[] }[]>`select array[${time}::timestamptz] as times`;
    expect(row?.times[0]?.toISOString()).toMatch(/^(0001|9999)-/);
  },
);

const REASONS = [
  'null',
  '[null]',
  '{}',
  '"text"',
  '[[{"path": "", "code": ""}]]',
  '[{"path": 1, "code": ""}]',
  '[{"path": ""}]',
];
const CASES = [
  'null',
  '[null]',
  '{}',
  '[{}]',
  '[[{"name": "", "rule": "", "outcome": ""}]]',
  '[{"name": "", "rule": "", "outcome": "failed", "problem": {}}]',
];
const OPEN_GAMES = ['null', '[]', '"text"', '{"g": null}', '{"g": {}}'];

test('odd JSON or an unknown word, which a stolen worker stores, is refused and ends no page', async () => {
  const { sql } = database;
  const worker = database.as('worker');
  const [run] = await sql<{ run_id: string }[]>`
    insert into sync_runs (run_id, application_id, trigger) values (gen_random_uuid(), 'acme', 'manual') returning run_id`;
  const refused = (query: Promise<unknown>) => expect(query).rejects.toMatchObject({ code: '23514' });
  for (const reasons of REASONS)
    await refused(worker`
      insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
      values ('acme', 'query_game_detail', 'g', 'invalid', ${reasons}::text::jsonb)`);
  for (const open_games of OPEN_GAMES)
    await refused(worker`
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
      values (${run?.run_id ?? ''}, 1, 1, 1, '{g}', ${open_games}::text::jsonb)`);
  await refused(worker`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    values ('acme', 'no operation', 'g', 'invalid', '[]')`);
  await refused(worker`
    insert into sync_runs (run_id, application_id, trigger) values (gen_random_uuid(), 'acme', 'no trigger')`);
  await refused(worker`update sync_runs set outcome = 'no outcome', finished_at = now()`);
  await sql`
    insert into application_checks (check_id, application_id, requested_by) values (gen_random_uuid(), 'acme', 'adam')`;
  for (const cases of CASES)
    await refused(worker`
      update application_checks set finished_at = now(), failed = 1, cases = ${cases}::text::jsonb
      where application_id = 'acme'`);
  for (const path of ['/', '/failures', '/applications/acme', `/runs/${run?.run_id}`])
    expect([path, (await open(path)).status]).toEqual([path, 200]);
});

test('an action that no release has, which a stolen console writes to the audit log, ends no answer', async () => {
  const { sql } = database;
  const { token } = await api.addToken('ada', 'admin');
  await database.as('console')`
    insert into audit_log (actor, actor_kind, action, subject) values ('adam', 'operator', 'no.action', 'x')`;
  const { status, body } = await api.call(token, 'audit.list');
  expect([status, body.data?.list[0]]).toMatchObject([200, { action: 'no.action' }]);
  expect((await open('/audit')).status).toBe(200);
  await sql`truncate api_tokens cascade`;
});

test('a kind of failure that names a property of every object is shown as it is', async () => {
  await database.as('worker')`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    values ('acme', 'query_game_detail', 'odd', 'constructor', '[{"path": "", "code": "constructor"}]')`;
  const page = await (await open('/failures?application=acme')).text();
  expect(page).toContain('Failed: constructor.');
  expect(page).not.toContain('native code');
});

test('numbers of 131,072 digits, of a few bytes each, which a stolen console writes to the audit log, are refused', async () => {
  const digits = `{"n": [${Array.from({ length: 20 }, () => '1e131071').join()}]}`;
  const write = database.as('console')`
    insert into audit_log (actor, actor_kind, action, subject, details)
    values ('adam', 'operator', 'game.pass', 'x', ${digits}::text::jsonb)`;
  await expect(write).rejects.toMatchObject({ code: '23514' });
  expect((await open('/audit')).status).toBe(200);
});

test('a page of the audit log ends after 8 MB, and goes on in the next', async () => {
  const { token } = await api.addToken('ada', 'admin');
  const subject = 'application:large';
  for (let n = 0; n < 12; n += 1)
    await database.as('console')`
      insert into audit_log (actor, actor_kind, action, subject, details)
      values ('adam', 'operator', 'game.pass', ${subject}, jsonb_build_object('n', ${n}::int, 'text', repeat('x', 900000)))`;
  const read = async (cursor?: string): Promise<{ shown: number[]; next: string }> => {
    const { body } = await api.call(token, 'audit.list', { filter: { subject }, limit: 11, cursor });
    const { list, next } = body.data;
    return { shown: list.map((entry: { details: { n: number } }) => entry.details.n), next };
  };
  const first = await read();
  expect(first.shown).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(await read(first.next)).toEqual({ shown: [2, 1, 0], next: null });
});

test.each([2_000, 5_000])(
  'details of %i levels, which a stolen console writes to the audit log, end no page and no answer',
  async (levels) => {
    const { token } = await api.addToken(`ada-${levels}`, 'admin');
    await database.as('console')`
      insert into audit_log (actor, actor_kind, action, subject, details)
      values ('adam', 'operator', 'game.pass', 'x', ${'{"a":'.repeat(levels) + 1 + '}'.repeat(levels)}::text::jsonb)`;
    expect((await open('/audit')).status).toBe(200);
    expect((await api.call(token, 'audit.list')).status).toBe(200);
  },
);
