import type { Database } from '#db/client.ts';
import { wordsOf } from '#src/rules/search-words.ts';
import { APPLICATIONS, LOAD_BATCH } from '#test/bench/api-database.ts';
import { namedGame } from '#test/support/game-names.ts';

/** Games whose names give the words of all names. */
const NAMED = 10_000;

/** Each name is two of these. */
const WORDS = [
  ...new Set(Array.from({ length: NAMED }, (_, n) => wordsOf(namedGame(n).game_name)).flat()),
].filter((word) => /^[a-z]{3,24}$/.test(word));

/** One game in fifteen has it. */
export const FREQUENT_WORD = WORDS[0] ?? '';

/**
 * Inserts games without triggers, whose words and counts the caller makes, and builds the indexes of pages and words
 * when all are there.
 */
const insertGames = async (sql: Database, games: number, description: string): Promise<void> => {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where tablename = 'games' and indexdef not like 'CREATE UNIQUE%'`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await sql`create table bench_words (n int primary key, word text)`;
  await sql`insert into bench_words select n - 1, word from unnest(${WORDS}::text[]) with ordinality as w (word, n)`;
  // Few words are in many names, as in a language.
  const wordOf = (seed: number) => sql`(
    select word from bench_words
    where n = floor(power((hashint8extended(i, ${seed}) & 1048575) / 1048576.0::float8, 3) * w.words)::int)`;
  const load = (from: number) =>
    sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
          game_store_video, game_store_pic, content_hash, list_hash, fetched_at, search, audit_status, audit_time, created_at)
        select (lpad(to_hex(1780000000000 + i * 864000000::bigint / ${games}::int), 12, '0') || '7'
            || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
          'app-' || i % ${APPLICATIONS}::int, 'game-' || i, initcap(one || ' ' || other), '{https://cdn.example/icon.png}',
          ${description}, '', '{}', md5(i::text), '', now(),
          array_to_tsvector(array['#game-' || i, '@app-' || i % ${APPLICATIONS}::int, one, other]),
          case when i % 50 = 0 then 'pending' else 'passed' end, case when i % 50 = 0 then null else now() end,
          to_timestamp(1780000000 + i * 864000::bigint / ${games}::int)
        from (select count(*) as words from bench_words) w,
          generate_series(${from}::int, ${Math.min(from + LOAD_BATCH - 1, games)}::int) i,
          lateral (select ${wordOf(1)} as one, ${wordOf(2)} as other) as name`;
    });
  await Promise.all(
    Array.from({ length: Math.ceil(games / LOAD_BATCH) }, (_, n) => load(n * LOAD_BATCH + 1)),
  );
  for (const { definition } of indexes) await sql.unsafe(definition);
  await sql`insert into search_words (word, keys) select word, search_keys(word) from bench_words`;
  await sql`drop table bench_words`;
};

/**
 * Inserts games, unless the kept database has some. One in fifty is pending, one in a thousand has changed since it was
 * decided: half of those are the oldest games, the others are spread.
 * @param sql has no limit for a statement
 */
export const loadReviewedGames = async (
  sql: Database,
  games: number,
  description = 'A game to play. '.repeat(30),
): Promise<void> => {
  const [loaded] = await sql<{ has: boolean }[]>`select exists (select from games) as has`;
  if (loaded?.has) return;
  await insertGames(sql, games, description);
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
      insert into game_audits (game_id, revision, audit_status, decided_by, waiting_since, decided_at)
      select game_id, 1, 'passed', 'kim', created_at, now() - interval '4 days' from moved
    ), lane as (
      insert into changed_games (game_id, application_id, decided_revision, since)
      select game_id, application_id, 1, now() - random() * interval '3 days' from moved
    )
    update games g set revision = 2, game_desc = g.game_desc || 2 from moved where g.game_id = moved.game_id`;
  await sql`select recount_games(true)`;
  await sql`vacuum analyze`;
};
