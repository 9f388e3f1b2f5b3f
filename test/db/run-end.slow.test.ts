import { expect, test } from 'vitest';
import { clearUnlistedFailures, summariseListing, withdrawUnlisted } from '#db/queries/unlisted-games.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Ends a run that lists every second game of an application. @returns how long that took, in milliseconds */
const endRun = async (games: number): Promise<number> => {
  const { application_id } = await addApplication(database.sql, `app-${games}`);
  const { run_id, started_at } = await anOpenRun(database.sql, application_id);
  return database.sql.begin(async (tx) => {
    // The worst of the plans that Postgres may take for tables it has not counted.
    await tx`set local enable_hashjoin = off`;
    await tx`set local enable_mergejoin = off`;
    await tx`
      insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
        game_store_video, game_store_pic, content_hash, list_hash, fetched_at, created_at)
      select gen_random_uuid(), ${application_id}, 'g-' || i, '', '{}', '', '', '{}', '', '', now(),
             ${started_at.toISOString()}::timestamptz
      from generate_series(1, ${games}::integer) as i`;
    await tx`
      insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
      select application_id, 'query_game_detail', application_game_id, 'timeout', '[]'
      from games where application_id = ${application_id}`;
    await tx`
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
      select ${run_id}, page, 100, ${games}, array(select 'g-' || i from generate_series(page * 100 - 49, page * 100) i), '{}'
      from generate_series(1, ${games / 100}::integer) as page`;
    const from = performance.now();
    const unlisted = games / 2;
    expect(await summariseListing(tx, run_id, application_id)).toMatchObject({
      listed: games - unlisted,
      established: games,
      unlisted,
      lost: unlisted,
    });
    expect(await withdrawUnlisted(tx, run_id, application_id)).toBe(unlisted);
    await clearUnlistedFailures(tx, run_id, application_id);
    const ms = performance.now() - from;
    const [left] = await tx`
      select count(*)::int as failures from ingest_failures where application_id = ${application_id}`;
    expect(left).toEqual({ failures: games - unlisted });
    return ms;
  });
};

test('a run ends in one pass over its games, with any statistics: four times the games take less than eight times as long', async () => {
  await endRun(500);
  const few = await endRun(4_000);
  expect((await endRun(16_000)) / few).toBeLessThan(8);
});
