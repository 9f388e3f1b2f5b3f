import { randomUUIDv7 } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Rows that this session has read since Postgres last collected its figures: by sequential scans, and by indexes. */
const READ = `
  select relname as "table", seq_tup_read::int as rows, idx_tup_fetch::int as looked_up from pg_stat_xact_user_tables
  where relname in ('games', 'game_revisions', 'game_audits') order by 1`;

/** Executions of a statement after which Postgres keeps its plan. */
const PLANNED = 6;

it('writes games without reading a whole table, also by a plan of when it was empty', async () => {
  const sql = openDatabase(database.databaseUrl, { max: 1 });
  onTestFinished(() => sql.end());
  await addApplication(sql, 'acme');
  await sql`alter table games set (autovacuum_enabled = false)`;
  await sql`alter table game_revisions set (autovacuum_enabled = false)`;
  await sql`alter table game_audits set (autovacuum_enabled = false)`;
  for (let batch = 0; batch < PLANNED; batch += 1)
    await upsertGames(
      sql,
      'acme',
      Array.from({ length: 50 }, (_, index) => fetchedGame({ game_id: `g-${index}` }, new Date(batch))),
    );
  await sql`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
    select gen_random_uuid(), 'acme', 'other-' || number, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at
    from games cross join generate_series(1, 20000) as number where application_game_id = 'g-1'`;
  await sql`
    insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic,
      content_hash, fetched_at)
    select game_id, 1, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at
    from games where application_game_id like 'other-%'`;
  await sql`
    insert into game_audits (game_id, revision, audit_status, decided_by)
    select game_id, 1, 'passed', 'kim' from games where application_game_id like 'other-%'`;
  const changed = (game_info: string) =>
    Array.from({ length: 50 }, (_, index) => ({
      ...fetchedGame({ game_id: `g-${index}`, game_info }, new Date()),
      game_id: randomUUIDv7(),
    }));
  for (const keepsAges of [false, true])
    await sql.begin(async (tx) => {
      const before = await tx.unsafe(READ);
      expect(before).toHaveLength(3);
      const games = changed(`Changed, ages kept: ${keepsAges}.`);
      expect((await upsertGames(tx, 'acme', games, keepsAges)).updated).toHaveLength(50);
      const after = await tx.unsafe(READ);
      expect(after.map(({ rows }) => rows)).toEqual(before.map(({ rows }) => rows));
      for (const [at, { looked_up }] of after.entries())
        expect(looked_up - before[at]?.looked_up).toBeLessThan(20 * games.length);
    });
});
