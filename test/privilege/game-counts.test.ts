import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { recountGames } from '#db/queries/api-games.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { roleUrls } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** A change folds the counters with a chance of 1 in 256: that none of these does has a chance of 1 in 120,000. */
const GAMES = 3_000;

let urls: Record<string, string>;
beforeAll(async () => {
  urls = roleUrls(database.databaseUrl);
  const { DATABASE_URL_CONSOLE: console, DATABASE_URL_MEDIA: media, DATABASE_URL_OPERATOR: operator } = urls;
  expect(await grantRoles(database.sql, { console, media, operator })).toEqual([]);
  await addApplication(database.sql, 'acme');
  const games = Array.from({ length: GAMES }, (_, index) => fetchedGame({ game_id: `g-${index}` }));
  await upsertGames(database.sql, 'acme', games);
});

const as = (role: string) => {
  const sql = openDatabase(urls[`DATABASE_URL_${role}`] ?? '', {
    max: 1,
    applicationName: 'game counts test',
  });
  return { sql, [Symbol.asyncDispose]: () => sql.end() };
};

describe.each([
  ['CONSOLE', 'passed', new Date()],
  ['MEDIA', 'pending', null],
  ['OPERATOR', 'rejected', new Date()],
] as const)('%s', (role, status, time) => {
  it('changes the status of every game, and the counters follow', async () => {
    await using session = as(role);
    const changed = await session.sql`update games set audit_status = ${status}, audit_time = ${time}`;
    expect(changed.count).toBe(GAMES);
    expect(await recountGames(database.sql, { repair: false })).toEqual([]);
    const [counted] = await database.sql`
      select sum(games)::int as games from game_counts
      where application_id = 'acme' and level = 0 and audit_status = ${status}`;
    expect(counted?.games).toBeGreaterThan(0);
  });
});

it('an operator repairs the counters, and no role writes them otherwise', async () => {
  await using operator = as('OPERATOR');
  await database.sql`update game_counts set games = games + 1 where application_id = 'acme' and level = 0`;
  expect(await recountGames(operator.sql, { repair: true })).not.toEqual([]);
  expect(await recountGames(database.sql, { repair: false })).toEqual([]);
  for (const table of ['game_counts', 'game_count_changes'])
    await expect(operator.sql.unsafe(`update ${table} set games = 0`)).rejects.toThrow('permission denied');
  await using console = as('CONSOLE');
  for (const call of ['recount_games(true)', 'fold_game_counts()'])
    await expect(console.sql.unsafe(`select ${call}`)).rejects.toThrow('permission denied');
});
