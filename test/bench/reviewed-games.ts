import type { Database } from '#db/client.ts';
import { APPLICATIONS, LOAD_BATCH } from '#test/bench/api-database.ts';

/**
 * Inserts games, unless the kept database has some. One in fifty is pending, one in a thousand has changed since it was
 * decided: half of those are the oldest games, the others are spread.
 * @param sql has no limit for a statement
 */
export const loadReviewedGames = async (sql: Database, games: number): Promise<void> => {
  const [loaded] = await sql<
    { games: number }[]
  >`select reltuples::float8 as games from pg_class where oid = 'games'::regclass`;
  if ((loaded?.games ?? 0) > 0) return;
  for (let from = 1; from <= games; from += LOAD_BATCH) {
    await sql`
      insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
        game_store_video, game_store_pic, content_hash, list_hash, fetched_at, search, audit_status, audit_time, created_at)
      select (lpad(to_hex(1780000000000 + i * 864000000::bigint / ${games}::int), 12, '0') || '7'
          || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
        'app-' || i % ${APPLICATIONS}::int, 'game-' || i, 'Game' || i, '{https://cdn.example/icon.png}',
        repeat('A game to play. ', 30), '', '{}', md5(i::text), '', now(),
        array_to_tsvector(array['#game-' || i, '@app-' || i % ${APPLICATIONS}::int, '+game' || i]),
        case when i % 50 = 0 then 'pending' else 'passed' end, case when i % 50 = 0 then null else now() end,
        to_timestamp(1780000000 + i * 864000::bigint / ${games}::int)
      from generate_series(${from}::int, ${Math.min(from + LOAD_BATCH - 1, games)}::int) i`;
  }
  const changed = games / 2_000;
  await sql`
    with oldest as (
      select game_id from games where audit_status = 'pending' order by audit_status, game_id limit ${changed}
    ), spread as (
      select game_id from (
        select game_id, row_number() over (order by game_id) as n from games where audit_status = 'pending'
      ) as each
      where n > ${changed} and n % 38 = 0 limit ${changed}
    ), moved as (
      select g.* from games g join (select game_id from oldest union all select game_id from spread) c using (game_id)
    ), kept as (
      insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic,
        content_hash, fetched_at)
      select game_id, r, game_name, game_icon, game_desc || r, game_store_video, game_store_pic, content_hash, fetched_at
      from moved, generate_series(1, 2) r
    ), decided as (
      insert into game_audits (game_id, revision, audit_status, decided_by, waiting_since)
      select game_id, 1, 'passed', 'kim', created_at from moved
    ), lane as (
      insert into changed_games (game_id, application_id, decided_revision, since)
      select game_id, application_id, 1, now() - random() * interval '3 days' from moved
    )
    update games g set revision = 2, game_desc = g.game_desc || 2 from moved where g.game_id = moved.game_id`;
  await sql`select recount_games(true)`;
  await sql`vacuum analyze`;
};
