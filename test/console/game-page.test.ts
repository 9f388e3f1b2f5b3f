import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, startTestConsole, type TestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openAs } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** One connection: Postgres counts what each has read. */
let pool: Database;
let site: TestConsole;
let cookie: string;
beforeAll(async () => {
  pool = openAs('console', database.databaseUrl, 1);
  site = await startTestConsole(database, { sql: pool });
  await addApplication(database.sql, 'acme');
  await addTestOperator(database.sql, 'kim', 'admin', 'reviewer');
  cookie = await signIn(site.url, 'kim');
});
afterAll(async () => {
  await site?.stop();
  await pool?.end();
});

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const open = async (path: string) => {
  const answer = await fetch(new URL(path, site.url), { headers: { cookie }, redirect: 'manual' });
  return { status: answer.status, text: await answer.text() };
};

test('the page of a game reads the content of the revisions that it compares, and of no other', async () => {
  const { sql } = database;
  const id = randomUUID();
  for (let revision = 1; revision <= 20; revision += 1) {
    const game_info = randomBytes(20_000).toString('base64');
    await upsertGames(sql, 'acme', [fetchedGame({ game_id: id, game_info }, at(revision))]);
  }
  const [game] = await sql<
    { game_id: string }[]
  >`select game_id from games where application_game_id = ${id}`;
  /** Reads of the parts in which Postgres keeps long texts of revisions. */
  const readParts = async (): Promise<number> => {
    await pool`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ parts: number }[]>`
      select t.idx_tup_fetch::int as parts from pg_stat_all_tables t join pg_class c on c.reltoastrelid = t.relid
      where c.relname = 'game_revisions'`;
    return row?.parts ?? 0;
  };
  const [kept] = await sql<{ parts: number }[]>`
    select ceil(sum(octet_length(game_desc)) / 1996.0)::int as parts from game_revisions
    where game_id = ${game?.game_id ?? ''}`;
  const before = await readParts();
  const { status, text } = await open(`/games/${game?.game_id}?from=3&to=5`);
  expect(status).toBe(200);
  expect(text).toContain('revision 20');
  const parts = (await readParts()) - before;
  expect(parts).toBeGreaterThan(0);
  expect(parts).toBeLessThan((kept?.parts ?? 0) / 5);
  // The game itself has the content of its current revision.
  const beforeCurrent = await readParts();
  expect((await open(`/games/${game?.game_id}`)).status).toBe(200);
  expect((await readParts()) - beforeCurrent).toBe(0);
});

test('the id of a game in capitals opens the same page, whose forms and links name the stored id', async () => {
  const games = ['first', 'second'].map((game_id) => fetchedGame({ game_id }));
  await upsertGames(database.sql, 'acme', games);
  const [first, second] = games.map(({ game_id }) => game_id).sort();
  const capitals = first?.toUpperCase() ?? '';
  for (const query of ['', `?lane=new&back=${second?.toUpperCase()}`]) {
    const { status, text } = await open(`/games/${capitals}${query}`);
    expect(status).toBe(200);
    expect(text.replaceAll('<', '\n<')).not.toMatch(new RegExp(`(href|action|value)="[^"]*${capitals}`));
    expect(text).toContain(`value="due,${first},`);
  }
  const form = {
    act: 'pass',
    revision: '1',
    seen_status: 'pending',
    lane: 'new',
    cursor: `due,${first},2026-01-01T00:00:00Z`,
  };
  const answer = await fetch(new URL(`/games/${capitals}`, site.url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  expect(answer.headers.get('location')).toContain(`back=${first}`);
});
