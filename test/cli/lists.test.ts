import { afterAll, beforeAll, expect } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { terminalTest as it, openTerminal, type Terminal } from '#test/support/terminal.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const env = () => asOperator(database.databaseUrl);
let terminal: Terminal;

beforeAll(async () => {
  terminal = await openTerminal({ columns: 100, env: env() });
});
afterAll(() => terminal?.close());

it('event deliveries is a table at 100 columns, and continues where its last line says', async () => {
  const { sql } = database;
  await addApplication(sql, 'northwind-play');
  const games = ['Lantern Harbour', 'Copper', 'Salt'].map((game_name) =>
    fetchedGame({ game_id: game_name, game_name }),
  );
  await upsertGames(sql, 'northwind-play', games);
  for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  const all = (await terminal.run('catalogue event deliveries')).screen;
  expect(all).toMatch(/^ago +application +type +game +state +result +event_id$/m);
  expect(all.match(/^\d+[smh] +northwind-play +game\.passed +\w.* pulled +[0-9a-f-]{23}$/gm)).toHaveLength(3);
  const first = (await terminal.run('catalogue event deliveries --limit 2')).screen;
  const [, next] = /^2 of 3, next: npx (.+)$/m.exec(first) ?? [];
  expect(next).toMatch(/^catalogue event deliveries --limit 2 --cursor -created_at,[0-9a-f-]{36}$/);
  const rest = (await terminal.run(`${next}`)).screen;
  const ids = (screen: string) => screen.match(/[0-9a-f-]{23}$/gm);
  expect(ids(rest)).toEqual(ids(all)?.slice(2));
});

it('a list continues after a text with any characters', async () => {
  const names = ['%, "é", \'x\' 100 %', 'Zwei\u2028Zeilen', '遊戲,目錄'];
  for (const [n, name] of names.entries()) await addApplication(database.sql, `odd-${n}`, { name });
  for (const sort of ['name', '-name']) {
    const seen: (string | undefined)[] = [];
    let next: string | undefined = `catalogue app list --search odd- --limit 1 --sort ${sort}`;
    while (next !== undefined && seen.length < 9) {
      const { screen } = await terminal.run(next);
      seen.push(/^odd-\d/m.exec(screen)?.[0]);
      next = /, next: npx (.+)$/m.exec(screen)?.[1];
    }
    expect(seen.sort()).toEqual(['odd-0', 'odd-1', 'odd-2']);
  }
});

it('an unknown application gets a suggestion', async () => {
  for (const id of ['acme', 'closed-port']) await addApplication(database.sql, id);
  for (const [typed, meant] of [
    ['acmee', 'acme'],
    ['closed', 'closed-port'],
  ] as const) {
    const { exit, stderr } = await runCli(['app', 'show', typed], env());
    expect(exit).toBe(2);
    expect(stderr).toContain(`There is no application "${typed}". Did you mean ${meant}?`);
  }
  expect((await runCli(['app', 'show', 'zzz'], env())).stderr).not.toContain('Did you mean');
});

it('run days and approval list continue where their last line says', async () => {
  const { sql } = database;
  await addApplication(sql, 'daily');
  await sql`
    insert into run_days (application_id, day, outcome, runs, listed, inserted, updated, unchanged, invalid, failed,
                          missing, withdrawn)
    select 'daily', date '2026-01-01' + n / 2, case n % 2 when 0 then 'succeeded' else 'failed' end,
           1, 0, 0, 0, 0, 0, 0, 0, 0 from generate_series(0, 3) as n`;
  await sql`insert into operators (login, name, roles) values ('kim', 'Kim', '{kyc_officer}')`;
  await sql`
    insert into approvals (approval_id, kind, subject, version, requested, reason, requested_by, expires_at)
    select gen_random_uuid(), 'erase', 'application:daily-' || n, 'v', '{}', 'r', 'kim', now()
    from generate_series(0, 3) as n`;
  for (const [list, name] of [
    ['run days daily', 'days'],
    ['approval list --all', 'approvals'],
  ] as const) {
    const command = [...list.split(' '), '--limit', '3'];
    const first = documentOf(await runCli([...command, '--json'], env()));
    expect((await runCli(command, env())).stdout).toContain(
      `3 of 4, next: npx catalogue ${list} --limit 3 --cursor `,
    );
    const rest = documentOf(await runCli([...command, '--cursor', first.next_cursor, '--json'], env()));
    expect(rest).not.toHaveProperty('next_cursor');
    const seen = [...first[name], ...rest[name]].map((row) => JSON.stringify(row));
    expect(seen).toHaveLength(4);
    expect(new Set(seen).size).toBe(4);
  }
});
