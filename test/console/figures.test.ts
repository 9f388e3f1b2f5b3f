import { beforeAll, expect, test } from 'vitest';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;
const get = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer', 'admin');
  cookie = await signIn(served.url, 'olga');
});

test('the totals of the figures have the median wait of all decisions, not of each row', async () => {
  const { sql } = database;
  await addApplication(sql, 'app');
  const ids = await addGames(sql, 'app', 3);
  for (const [n, game_id] of ids.entries()) {
    await decideGame(sql, { game_id, audit_status: 'passed' });
    const day = n === 0 ? '1 day' : '0 days';
    await sql`
      update game_audits set decided_at = decided_at - ${day}::interval,
        waiting_since = decided_at - ${day}::interval - ${n + 2} * interval '1 hour' where game_id = ${game_id}`;
  }
  const page = await get('/figures');
  const totals = [...page.matchAll(/<div class="stat"><span>([^<]*)<\/span><strong>([^<]*)<\/strong>/g)];
  expect(Object.fromEntries(totals.map(([, name = '', value]) => [name, value]))).toEqual({
    decisions: '3',
    passed: '3',
    rejected: '0',
    overturned: '0',
    'median wait': '3\u00a0h',
  });
});

test('the chart of the decisions has a bar for a day without one', async () => {
  await database.sql`update game_audits set decided_at = decided_at - interval '2 days' where decided_at < now() - interval '1 day'`;
  const bars = [...(await get('/figures')).matchAll(/<title>[\d-]+: (\d+) passed/g)];
  expect(bars.map(([, passed]) => passed)).toEqual(['1', '0', '0', '2']);
});

test('a page of the figures that lacks rows has no totals, be it the first or the last one', async () => {
  await database.sql`
    insert into game_audits (game_id, revision, audit_status, decided_by, decided_at)
    select game_id, revision, audit_status, 'reviewer-' || n, decided_at from game_audits, generate_series(1, 60) as n`;
  const first = await get('/figures');
  const [, next = ''] = /href="(\/figures\?[^"]*cursor=[^"]*)"/.exec(first) ?? [];
  const last = await get(next.replaceAll('&amp;', '&'));
  expect(last).toContain('reviewer-');
  for (const page of [first, last]) expect(page).not.toContain('class="stat"');
});

test('a reason has the key of the form of a rejection; a retired one has none, and those after it move up', async () => {
  await database.sql`update reasons set retired_at = now() where code = 'broken_media'`;
  const keyOf = (page: string, code: string): string | undefined =>
    new RegExp(`<tr data-item>(?:(?!</tr>).)*${code}<.*?</tr>`, 's')
      .exec(page)?.[0]
      .match(/<kbd>(\d)<\/kbd>/)?.[1];
  const page = await get('/reasons?sort=code');
  const codes = ['incomplete', 'broken_media', 'misleading', 'other'];
  expect(codes.map((code) => keyOf(page, code))).toEqual(['1', undefined, '2', '6']);
});
