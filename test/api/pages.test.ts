import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { recountGames, type Scope, selectGamePage } from '#db/queries/api-games.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import { useTestApi } from '#test/support/api.ts';
import { addApplication } from '#test/support/factories.ts';

const GAMES = 1_000;
const PAGE_SIZE = 50;
const SCOPES: readonly Scope[] = [null, 'one'];

const api = useTestApi();
beforeAll(async () => {
  for (const id of ['one', 'two']) await addApplication(api.sql, id);
});

/** Games of two applications, alternating, a minute apart: every third is passed, the others are pending. */
beforeEach(async () => {
  await api.sql`truncate games, game_revisions, game_audits, picture_pins, game_counts, game_count_changes`;
  await api.sql`
    insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at, audit_status, audit_time)
    select (lpad(to_hex(1780000000000 + i * 60000::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 3) || '8'
        || substr(md5(i::text), 4, 15))::uuid,
      case when i % 2 = 0 then 'one' else 'two' end, i, 'Game', '{}', '', '', '{}', '', '', now(),
      case when i % 3 = 0 then 'passed' else 'pending' end, case when i % 3 = 0 then now() end
    from generate_series(1, ${GAMES}::int) i`;
  await fold();
});

const fold = () => api.sql`select fold_game_counts()`;

const readPage = async (sql: Queryable, scope: Scope, page_num: number) => {
  const { total, list } = await selectGamePage(sql, {
    scope,
    audit_status: 'pending',
    page_num,
    page_size: PAGE_SIZE,
  });
  return { total, ids: list.map(({ game_id }) => game_id) };
};

/** The same page and total, read without the counters. */
const readTruePage = async (sql: Queryable, scope: Scope, page_num: number) => {
  const rows = await sql<{ game_id: string }[]>`
    select game_id from games
    where audit_status = 'pending' and withdrawn_at is null and (${scope}::text is null or application_id = ${scope})
    order by game_id`;
  const ids = rows.map(({ game_id }) => game_id);
  return { total: ids.length, ids: ids.slice((page_num - 1) * PAGE_SIZE, page_num * PAGE_SIZE) };
};

const expectTruePage = async (scope: Scope, page_num: number) =>
  expect(await readPage(api.sql, scope, page_num)).toEqual(await readTruePage(api.sql, scope, page_num));

/** Every page of a scope, and the one past the end. */
const expectTruePages = async (scope: Scope) => {
  const { total } = await readPage(api.sql, scope, 1);
  for (let page_num = 1; page_num <= Math.ceil(total / PAGE_SIZE) + 1; page_num += 1)
    await expectTruePage(scope, page_num);
};

const nth = async (audit_status: AuditStatus, skip: number): Promise<string> => {
  const [row] = await api.sql`
    select game_id from games where audit_status = ${audit_status} and withdrawn_at is null
    order by game_id offset ${skip} limit 1`;
  return row?.game_id;
};
const decide = (sql: Queryable, game_id: string, audit_status: 'pending' | 'passed') =>
  sql`
    update games set audit_status = ${audit_status},
      audit_time = case when ${audit_status} = 'passed' then now() end
    where game_id = ${game_id}`;

describe('every page is right', () => {
  test.for<[what: string, change: () => Promise<unknown>]>([
    ['without a change', async () => {}],
    ['after a game is passed', async () => decide(api.sql, await nth('pending', 20), 'passed')],
    ['after a game is pending again', async () => decide(api.sql, await nth('passed', 20), 'pending')],
    [
      'after one game leaves the list and another one enters it',
      async () => {
        await decide(api.sql, await nth('pending', 20), 'passed');
        await decide(api.sql, await nth('passed', 300), 'pending');
      },
    ],
    [
      'after a game is withdrawn',
      async () => api.sql`update games set withdrawn_at = now() where game_id = ${await nth('pending', 3)}`,
    ],
    [
      'after games are deleted',
      async () => api.sql`delete from games where game_id < ${await nth('pending', 100)}`,
    ],
    ['after all games are deleted', async () => api.sql`delete from games`],
  ])('%s, before and after the change is folded', async ([, change]) => {
    await change();
    for (const scope of SCOPES) await expectTruePages(scope);
    await fold();
    for (const scope of SCOPES) await expectTruePages(scope);
  });

  test('after any sequence of changes', async () => {
    let seed = 20_261_121;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let step = 0; step < 400; step += 1) {
      const change = random(12);
      if (change === 0) await decide(api.sql, await nth('pending', random(500)), 'passed');
      if (change === 1) await decide(api.sql, await nth('passed', random(250)), 'pending');
      if (change === 2) await fold();
      await expectTruePage(random(3) === 0 ? 'two' : null, 1 + random(14));
    }
  });

  test('while other connections change and fold games', async () => {
    let reading = true;
    const changes: [number, number] = [0, 0];
    const write = async (writer: 0 | 1) => {
      for (let change = 0; reading; change += 1) {
        changes[writer] = change;
        await decide(api.sql, await nth('pending', (change * 37 + writer * 7) % 600), 'passed');
        await decide(api.sql, await nth('passed', (change * 53 + writer * 7) % 300), 'pending');
        if (change % 10 === 0) await fold();
      }
    };
    const writers = Promise.all([write(0), write(1)]);
    for (let round = 0; round < 100 || Math.min(...changes) < 20; round += 1) {
      await api.sql.begin('isolation level repeatable read', async (tx) => {
        const [scope, page_num] = [SCOPES[round % 2] ?? null, 1 + (round % 14)];
        expect(await readPage(tx, scope, page_num)).toEqual(await readTruePage(tx, scope, page_num));
      });
    }
    reading = false;
    await writers;
  });

  test('for any ids', async () => {
    const insert = (idOf: string, games: number) =>
      api.sql.unsafe(`
        insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
          game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
        select (${idOf})::uuid, 'one', md5((${idOf})::text), 'Game', '{}', '', '', '{}', '', '', now()
        from generate_series(1, ${games}) i`);
    const v7 = (ms: string) =>
      `lpad(to_hex(${ms}), 12, '0') || '7' || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15)`;
    // Half a day apart, all in one millisecond, past the last bucket, and before the first.
    await insert(v7('1700000000000 + i * 43200000::bigint'), 600);
    await insert(v7('1790000000000'), 600);
    await insert(v7('281474976710000 + i / 10'), 600);
    await insert(v7('i::bigint'), 600);
    for (const scope of SCOPES) await expectTruePages(scope);
    await fold();
    for (const scope of SCOPES) await expectTruePages(scope);
  });
});

test('counters that are wrong are followed until they are repaired', async () => {
  await api.sql`
    update game_counts set upto = (select array_agg(n + 30) from unnest(upto) as n)
    where application_id = '' and audit_status = 'pending' and level = 1`;
  expect(await readPage(api.sql, null, 8)).not.toEqual(await readTruePage(api.sql, null, 8));
  await recountGames(api.sql, { repair: true });
  await expectTruePages(null);
});
