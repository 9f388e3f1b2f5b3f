import { createHash, randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { listKeptPictures, type Scope, selectGameDetail, selectGamePage } from '#db/queries/api-games.ts';
import { findPresentedToken } from '#db/queries/tokens.ts';
import { DETAIL, post, startApi } from '#test/support/api.ts';
import { addApplication, addGames, addToken } from '#test/support/factories.ts';
import { until } from '#test/support/until.ts';

test('a page is read from its index alone, without the games of other statuses before it', async () => {
  const own = await startApi();
  await addApplication(own.sql, 'one');
  await own.sql`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at, audit_status, audit_time)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'one', i, 'Game', '{}', '', '', '{}', '', '',
      now(), case when i > 4_900 then 'rejected' else 'pending' end, case when i > 4_900 then now() end
    from generate_series(1, 5_000) i`;
  // Vacuum does not mark rows as visible to all while a snapshot of autovacuum may not see them.
  await until('every page is visible to all', async () => {
    await own.sql`vacuum analyze games`;
    const [table] = await own.sql`
      select relallvisible = relpages as is_visible from pg_class where oid = 'games'::regclass`;
    return table?.is_visible || undefined;
  });
  const pool = openDatabase(own.databaseUrl, { max: 1, planOnce: true });
  const rowsFromTable = async (): Promise<number> => {
    const [row] =
      await pool`select idx_tup_fetch::int as rows from pg_stat_xact_user_tables where relname = 'games'`;
    return row?.rows;
  };
  for (const scope of [null, 'one']) {
    const before = await rowsFromTable();
    const { list } = await selectGamePage(pool, {
      scope,
      audit_status: 'rejected',
      page_num: 1,
      page_size: 20,
    });
    expect(list).toHaveLength(20);
    expect((await rowsFromTable()) - before).toBe(0);
  }
  await pool.end({ timeout: 1 });
  await own.close();
});

test('plans made while the tables were empty, for an operator or an application, read few rows once they are full', async () => {
  const own = await startApi();
  await addApplication(own.sql, 'one');
  await own.sql`vacuum analyze`;
  const open = (scope: Scope) => ({ scope, pool: openDatabase(own.databaseUrl, { max: 1, planOnce: true }) });
  const readers = [open(null), open('one')];
  let decided: string = randomUUIDv7();
  /** Runs every statement of the API. @returns the number of rows that Postgres read for them */
  const readAll = ({ scope, pool }: ReturnType<typeof open>): Promise<number> =>
    pool.begin(async (tx) => {
      for (const page_num of [1, 100, 200, 201])
        await selectGamePage(tx, { scope, audit_status: 'pending', page_num, page_size: 20 });
      await selectGameDetail(tx, { scope, game_id: randomUUIDv7() });
      await listKeptPictures(tx, decided);
      await findPresentedToken(tx, createHash('sha256').update('7').digest());
      const [read] = await tx`
        select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables`;
      return read?.rows;
    });
  for (const each of readers) expect(await readAll(each)).toBe(0);
  await own.sql`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
    select (lpad(to_hex(1780000000000 + i * 60000::bigint), 12, '0') || '7000' || '8000' || lpad('', 12, '0'))::uuid,
      'one', i, 'Game', '{}', '', '', '{}', '', '', now()
    from generate_series(1, 4_000) i`;
  await own.sql`
    insert into api_tokens (token_id, token_hash, name, application_id)
    select gen_random_uuid(), sha256(i::text::bytea), 'one of many', 'one' from generate_series(1, 4_000) i`;
  await own.sql`
    with revisions as (
      insert into game_revisions
        (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at)
      select game_id, 1, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at
      from games returning game_id
    )
    insert into game_audits (game_id, revision, audit_status, decided_by)
    select game_id, 1, 'passed', 'kim' from revisions`;
  await own.sql`
    insert into picture_pins (audit_id, is_icon, place, picture_id, sha256)
    select audit_id, false, place, gen_random_uuid(), sha256((audit_id * 3 + place)::text::bytea)
    from game_audits, generate_series(0, 2) place`;
  await own.sql`
    insert into picture_contents (sha256, outcome, bytes, format, stored)
    select sha256, 'shown', 1, 'png', 'passed' from picture_pins`;
  await own.sql`select fold_game_counts()`;
  [{ game_id: decided }] =
    (await own.sql`select game_id from game_audits offset 2000 limit 1`) as unknown as [{ game_id: string }];
  for (const each of readers) {
    expect(await readAll(each)).toBeLessThan(500);
    expect(await listKeptPictures(each.pool, decided)).toHaveLength(3);
    await each.pool.end({ timeout: 1 });
  }
  await own.close();
});

/**
 * Runs a statement with the plan of the API's pool. What planning reads depends on which catalogs the session knows by then.
 * @returns the plan, with the rows and pages that were read
 */
const explain = (sql: Database, statement: string, parameters: unknown[]): Promise<string[]> =>
  sql.begin(async (tx) => {
    const literals = parameters.map((value) =>
      value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`,
    );
    await tx.unsafe(`prepare explained as ${statement}`);
    const plan = await tx.unsafe(
      `explain (analyze, buffers, costs off, timing off, summary off) execute explained (${literals.join(', ')})`,
    );
    await tx.unsafe('deallocate explained');
    const lines = plan.map((line): string => line['QUERY PLAN']);
    const planning = lines.indexOf('Planning:');
    return planning < 0 ? lines : lines.slice(0, planning);
  });

test('a game of another application, an unknown id and a malformed id get one response, by the same statements and plans', async () => {
  const api = await startApi({ pictures: { url: () => 'https://pictures.example', directory: undefined } });
  for (const application_id of ['one', 'two']) await addApplication(api.sql, application_id);
  const { token } = await addToken(api.sql, 'one');
  const [mine = ''] = await addGames(api.sql, 'one', 300);
  const [theirs = ''] = await addGames(api.sql, 'two', 300);
  await api.sql`vacuum analyze`;
  const pool = openDatabase(api.databaseUrl, { max: 1, planOnce: true });
  const statements: [text: string, parameters: unknown[]][] = [];
  api.own.options.debug = (_connection, text, parameters) => void statements.push([text, parameters]);
  const readWork = async (game_id: string) => {
    statements.length = 0;
    const { status, body } = await post(api.url, DETAIL, token, { game_id });
    // The API records the last use of the token once a minute, beside the answer.
    const sent = statements.filter(([text]) => !text.includes('update api_tokens'));
    const lines = [];
    for (const [text, parameters] of sent) lines.push(...(await explain(pool, text, parameters)));
    const plans = lines.filter((line) => !/Buffers|Rows Removed/.test(line));
    // The first reader of a page after a change may also mark it ("dirtied=1"): that is no page more.
    const buffers = lines
      .filter((line) => line.includes('Buffers'))
      .map((line) => line.replace(/ dirtied=\d+/, ''));
    return { status, body, statements: sent.map(([text]) => text), plans, buffers };
  };
  expect((await readWork(mine)).body.data.game_id).toBe(mine);
  const { buffers, ...unknown } = await readWork(randomUUIDv7());
  expect(unknown).toMatchObject({ status: 200, body: { ret_code: 0, data: null } });
  expect(unknown.statements).toHaveLength(2);
  expect(await readWork('malformed')).toEqual({ ...unknown, buffers });
  // One page more is the row that the filter on application_id removes. Ids have 62 random bits or more: they cannot be guessed.
  const onePageMore = String(buffers.at(-1)).replace(/\d+$/, (pages) => String(Number(pages) + 1));
  expect(await readWork(theirs)).toEqual({ ...unknown, buffers: buffers.with(-1, onePageMore) });
  await pool.end({ timeout: 1 });
  await api.close();
});
