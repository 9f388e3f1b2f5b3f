import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Rows that sequential scans of this session have read since Postgres last collected its figures. */
const READ = `
  select relname as "table", seq_tup_read::int as rows from pg_stat_xact_user_tables
  where relname in ('games', 'game_revisions', 'game_audits') order by 1`;

it('writes games without reading a whole table, also before Postgres has analyzed it', async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  await sql`alter table games set (autovacuum_enabled = false)`;
  await sql`alter table game_revisions set (autovacuum_enabled = false)`;
  await sql`alter table game_audits set (autovacuum_enabled = false)`;
  await upsertGames(
    sql,
    'acme',
    Array.from({ length: 50 }, (_, index) => fetchedGame({ game_id: `g-${index}` })),
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
  const changed = Array.from({ length: 50 }, (_, index) => ({
    ...fetchedGame({ game_id: `g-${index}`, game_info: 'Changed.' }, new Date()),
    game_id: randomUUIDv7(),
  }));
  await sql.begin(async (tx) => {
    const before = await tx.unsafe(READ);
    expect(before).toHaveLength(3);
    expect((await upsertGames(tx, 'acme', changed)).updated).toHaveLength(50);
    expect(await tx.unsafe(READ)).toEqual(before);
  });
});
