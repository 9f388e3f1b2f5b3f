import { expect, test } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { pruneFailures, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { aFleet, idsOf, startHostileApplication } from '#test/support/hostile-application.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const DAY_MS = 24 * 60 * 60_000;
const countOf = async (sql: Database, table: string): Promise<number> =>
  (await sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}`)[0]?.count ?? 0;

test('an application whose every page names new invalid games keeps 10,000 failures, and its run counts all', async () => {
  const fleet = await aFleet();
  const list = (pageNum: number) => {
    const ids = pageNum <= 12 ? idsOf(`p${pageNum}`, 1_000) : [];
    return { data: { total: 12_000, list: ids.map((game_id) => ({ game_id, game_name: null })) } };
  };
  await startHostileApplication(fleet, 'acme', { list, detail: () => ({ data: null }) });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', listed: 12_000, invalid: 12_000 });
  expect(await countOf(fleet.sql, 'ingest_failures')).toBe(STORAGE.failures);
  // A known failure is counted at any number of rows.
  await fleet.sync('acme');
  const [known] = await fleet.sql`select count from ingest_failures where application_game_id = 'p1-0000'`;
  expect(known).toEqual({ count: 2 });
  expect(await countOf(fleet.sql, 'ingest_failures')).toBe(STORAGE.failures);
});

test('prune deletes the failures beyond the budget, and those of 90 days ago', async () => {
  const { sql } = database;
  await addApplication(sql, 'many');
  await addApplication(sql, 'old');
  await sql`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons, last_at)
    select 'many', 'query_game_list', 'g' || n, 'invalid_item', '[]', now() - n * interval '1 second'
    from generate_series(1, ${STORAGE.failures + 700}) as n`;
  const failure = { application_game_id: 'g', kind: 'timeout', reasons: [] };
  await recordFailures(sql, 'old', 'query_game_detail', [failure, { ...failure, application_game_id: 'h' }]);
  await sql`update ingest_failures set last_at = now() - interval '91 days' where application_game_id = 'h'`;
  const deleted: number[] = [];
  do deleted.push(await pruneFailures(sql, 90 * DAY_MS, 300));
  while (deleted.at(-1) === 300);
  expect(deleted.reduce((sum, count) => sum + count)).toBe(701);
  const left = await sql`
    select application_id, count(*)::int, max(application_game_id) filter (where application_id = 'old') as id
    from ingest_failures group by 1 order by 1`;
  expect(left).toMatchObject([
    { application_id: 'many', count: STORAGE.failures },
    { count: 1, id: 'g' },
  ]);
  const [oldest] =
    await sql`select 1 from ingest_failures where application_game_id = ${`g${STORAGE.failures}`}`;
  expect(oldest).toBeDefined();
});

test('a game that changes at each fetch keeps its latest revisions, and the one that a decision names', async () => {
  const { sql } = database;
  await addApplication(sql, 'changing');
  const write = (revision: number) =>
    upsertGames(sql, 'changing', [
      fetchedGame({ game_id: 'g', game_info: `version ${revision}` }, new Date(revision * 1_000)),
    ]);
  for (let revision = 1; revision <= 3; revision += 1) await write(revision);
  const [game] = await sql<
    { game_id: string }[]
  >`select game_id from games where application_id = 'changing'`;
  await sql`
    insert into game_audits (game_id, revision, audit_status, decided_by)
    values (${game?.game_id ?? ''}, 3, 'passed', 'ann')`;
  const last = STORAGE.revisions + 10;
  for (let revision = 4; revision <= last; revision += 1) await write(revision);
  const rows = await sql<{ revision: number }[]>`
    select revision from game_revisions where game_id = ${game?.game_id ?? ''} order by 1`;
  const latest = Array.from(
    { length: STORAGE.revisions },
    (_, index) => last - STORAGE.revisions + 1 + index,
  );
  expect(rows.map(({ revision }) => revision)).toEqual([3, ...latest]);
});

test('Postgres cancels a statement that takes longer than its class allows', async () => {
  const sql = openDatabase(database.databaseUrl, { max: 1, statementMs: 50 });
  await expect(sql`select pg_sleep(60)`).rejects.toMatchObject({ code: '57014' });
  await sql.end();
});
