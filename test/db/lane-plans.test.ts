import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { LANES } from '#src/contract/words.ts';
import { laneList } from '#src/lists/review.ts';
import { addApplication } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const GAMES = 30_000;
/** Executions of a statement after which Postgres may keep one plan for all. */
const PLANNED_EACH = 5;
const READERS = 20;

const database = useTestDatabase();

it('plans the first page of a long lane once, not for each reader', async () => {
  const sql = openDatabase(database.databaseUrl, { max: 1 });
  onTestFinished(() => sql.end());
  await addApplication(sql, 'acme');
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      with listed as (
        insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc, game_store_video,
          game_store_pic, content_hash, list_hash, fetched_at)
        select (lpad(to_hex(1780000000000 + i), 12, '0') || '7' || lpad(to_hex(i), 19, '8'))::uuid, 'acme', 'game-' || i,
          'Game ' || i, '{}', '', '', '{}', md5(i::text), '', now()
        from generate_series(1, ${2 * GAMES}::int) i
        returning game_id, application_game_id
      )
      insert into changed_games (game_id, application_id, decided_revision)
      select game_id, 'acme', 1 from listed where right(application_game_id, 1) in ('0', '2', '4', '6', '8')`;
    await tx`select recount_games(true)`;
  });
  await sql`vacuum analyze`;
  for (const lane of LANES) {
    for (let reader = 0; reader < READERS; reader += 1)
      expect((await readPage(sql, laneList, { lane }, { limit: 60 })).rows).toHaveLength(60);
  }
  const plans = await sql<{ planned: number; kept: number }[]>`
    select custom_plans::int as planned, generic_plans::int as kept from pg_prepared_statements
    where statement like '%streams as (%' and statement not like '%pg_prepared_statements%'`;
  expect(plans).toHaveLength(LANES.length);
  for (const { planned, kept } of plans) {
    expect(planned).toBeLessThanOrEqual(PLANNED_EACH);
    expect(planned + kept).toBe(READERS);
  }
});
