import { createHash, randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import {
  type PageAsked,
  type Scope,
  selectCatalogueDetails,
  selectCataloguePages,
  selectCounters,
} from '#db/queries/api-games.ts';
import { findPresentedTokens } from '#db/queries/tokens.ts';
import { addApplication, selectPage, startApi } from '#test/api/support.ts';

test('a page is read from its index alone, and without the games of other statuses that lie before it', async () => {
  const own = await startApi();
  await addApplication(own.sql, 'one');
  await own.sql.begin(async (tx) => {
    // Vacuum takes no row for one that everybody sees whose commit may still be lost.
    await tx`set local synchronous_commit to on`;
    await tx`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at, audit_status, audit_time)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'one', i, 'Game', '{}', '', '', '{}', '', '',
      now(), case when i > 19_900 then 'rejected' else 'pending' end, case when i > 19_900 then now() end
    from generate_series(1, 20_000) i`;
  });
  await own.sql`vacuum analyze games`;
  const pool = openDatabase(own.databaseUrl, { max: 1, planOnce: true });
  const fetched = async () => {
    const [row] =
      await pool`select idx_tup_fetch::int as games from pg_stat_xact_user_tables where relname = 'games'`;
    return row?.games as number;
  };
  for (const scope of [null, 'one']) {
    const before = await fetched();
    const { list } = await selectPage(pool, { scope, audit_status: 'rejected', page_num: 1, page_size: 20 });
    expect(list).toHaveLength(20);
    expect((await fetched()) - before).toBe(0);
  }
  await pool.end({ timeout: 1 });
  await own.close();
});

test.for<[who: string, scope: Scope]>([
  ['an operator', null],
  ['an application', 'one'],
])('what was planned for %s before there were games reads few rows of many', async ([, scope]) => {
  const own = await startApi();
  await addApplication(own.sql, 'one');
  await own.sql`vacuum analyze`;
  const pool = openDatabase(own.databaseUrl, { max: 1, planOnce: true });
  const page: PageAsked = { scope, audit_status: 'pending', page_num: 90, page_size: 20 };
  const [game_id, start] = [randomUUIDv7(), '00000000-0000-0000-0000-000000000000'];
  /** Everything that the API reads, and how many rows this session has read then. */
  const readAll = (): Promise<number> =>
    pool.begin(async (tx) => {
      await selectCataloguePages(tx, [page]);
      await selectCataloguePages(tx, [{ ...page, place: { start, ahead: 30 } }]);
      await selectCounters(tx, page, { gamesOver: 100, most: 1_000 });
      await selectCatalogueDetails(tx, [{ scope, game_id }]);
      await findPresentedTokens(tx, [createHash('sha256').update('7').digest('hex')]);
      const [read] = await tx`
        select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables`;
      return read?.rows;
    });
  expect(await readAll()).toBe(0);
  await own.sql`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
    select (lpad(to_hex(1780000000000 + i * 60000::bigint), 12, '0') || '7000' || '8000' || lpad('', 12, '0'))::uuid,
      'one', i, 'Game', '{}', '', '', '{}', '', '', now()
    from generate_series(1, 10_000) i`;
  await own.sql`
    insert into api_tokens (token_id, token_hash, name)
    select gen_random_uuid(), sha256(i::text::bytea), 'one of many' from generate_series(1, 10_000) i`;
  await own.sql`select fold_game_counts()`;
  expect(await readAll()).toBeLessThan(500);
  await pool.end({ timeout: 1 });
  await own.close();
});
