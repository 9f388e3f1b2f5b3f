import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { insertOperator } from '#db/queries/operators.ts';
import { insertToken } from '#db/queries/tokens.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const GAMES = 60;
const catalogue = (args: readonly string[], stdin?: string) =>
  runCli(args, asOperator(database.databaseUrl), stdin);
const ask = async (...args: string[]) => documentOf(await catalogue([...args, '--json']));

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  const games = Array.from({ length: GAMES }, (_, n) =>
    fetchedGame({ game_id: `g-${n}`, game_name: `Game ${n}` }),
  );
  await upsertGames(sql, 'acme', games);
  for (const login of ['olga', 'vera', 'adam'])
    await insertOperator(sql, {
      login,
      name: login.toUpperCase(),
      roles: login === 'adam' ? ['admin'] : ['viewer'],
    });
  for (const [n, name] of ['web', 'batch', 'mobile'].entries())
    await insertToken(sql, {
      token_id: randomUUID(),
      token_hash: Buffer.alloc(32, n),
      ...(n === 0
        ? { application_id: null, login: 'vera', roles: ['viewer' as const] }
        : { application_id: 'acme' }),
      name,
      expires_at: new Date(Date.now() + n * 60_000),
    });
});

it('"the newest 20 pending" is one command', async () => {
  const { games, total } = await ask('game', 'list', '--status', 'pending', '--newest', '--limit', '20');
  expect(total).toBe(GAMES);
  const rows = await database.sql<
    { game_id: string }[]
  >`select game_id from games order by game_id desc limit 20`;
  expect(games.map(({ game_id }: { game_id: string }) => game_id)).toEqual(
    rows.map(({ game_id }) => game_id),
  );
  expect(games[0].game, 'as decisions take it').toBe(`${rows[0]?.game_id}@1`);
});

it('what a search finds is passed by one pipe: game list, game pass', async () => {
  const { stdout } = await catalogue([
    'game',
    'list',
    '--search',
    'game',
    '--status',
    'pending',
    '--limit',
    '2',
  ]);
  const passed = await catalogue(['game', 'pass', '--by', 'kim', '--json'], stdout);
  expect(passed).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('not the whole list: 2 games, next: '),
  });
});

it('"why is it not here" is one command, whose first line answers', async () => {
  const { stdout } = await catalogue(['game', 'why', 'acme', 'g-unknown']);
  expect(stdout.split('\n')[0]).toMatch(
    /^The platform has not stored this game\. No run of acme has read the whole list yet\. The next run is due in \d+ \w+ \(every \d+ \w+\)\.$/,
  );
});

it('"why" takes an id with white space at its ends, as the application sends it', async () => {
  await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: ' g-8 ' }, new Date())]);
  const { stdout } = await catalogue(['game', 'why', 'acme', ' g-8 ']);
  expect(stdout).toMatch(/^The game is not live: it waits for its first decision\./);
});

it.each([
  ['token', 'tokens', 'name', ['--sort', '-expires_at'], ['mobile', 'batch', 'web']],
  ['token', 'tokens', 'name', ['--application', 'acme', '--newest'], ['mobile', 'batch']],
  ['token', 'tokens', 'name', ['--operator', 'vera'], ['web']],
  ['operator', 'operators', 'login', ['--sort', 'name'], ['adam', 'olga', 'vera']],
  ['operator', 'operators', 'login', ['--role', 'viewer', '--search', 'ER'], ['vera']],
  ['reason', 'reasons', 'code', ['--search', 'media'], ['broken_media']],
])('%s list: %s by %s with %j', async (command, rows, field, options, expected) => {
  const document = await ask(command, 'list', ...options);
  expect(document[rows].map((row: Record<string, string>) => row[field])).toEqual(expected);
});

it.each([
  ['token', []],
  ['token', ['--sort', 'last_used_at']],
  ['operator', ['--newest']],
  ['reason', []],
])('%s list %j continues where "next" says', async (command, options) => {
  const all = (await ask(command, 'list', ...options))[`${command}s`];
  const first = await ask(command, 'list', ...options, '--limit', '2');
  expect(first.total).toBe(all.length);
  const rest = await ask(command, 'list', ...options, '--cursor', first.next_cursor);
  expect([...first[`${command}s`], ...rest[`${command}s`]]).toEqual(all);
});
