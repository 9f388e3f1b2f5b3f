import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PageAsked, recountGames, type Scope } from '#db/queries/api-games.ts';
import { createPagePlaces } from '#src/api/page-places.ts';
import { createPageReader } from '#src/api/page-reader.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import { addApplication, selectPage, startApi, type TestApi } from '#test/api/support.ts';

const GAMES = 1_000;
const PAGE_SIZE = 50;
/** On a busy machine no page is read twice: what is slow is for test/api/in-turn.test.ts. */
const NEVER_SLOW = { slowMs: 60_000 };

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const id of ['one', 'two']) await addApplication(api.sql, id);
});
afterAll(() => api.close());

/** Games of two applications, in turn, a minute apart: every third passed, the others pending. */
beforeEach(async () => {
  await api.sql`truncate games, game_revisions, game_audits, game_counts, game_count_changes`;
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

/** The page as it is without any counter. */
const trueIds = async (scope: Scope, page_num: number): Promise<string[]> => {
  const rows = await api.sql<{ game_id: string }[]>`
    select game_id from games
    where audit_status = 'pending' and withdrawn_at is null and (${scope}::text is null or application_id = ${scope})
    order by game_id limit ${PAGE_SIZE} offset ${(page_num - 1) * PAGE_SIZE}`;
  return rows.map((row) => row.game_id);
};

/** Statements that read pages have six parameters, the third the places where they begin; those of counters four. */
const PAGES_PARAMETERS = 6;
/** A little while: what goes on beside an answer comes to its end. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A reader, and how the last page was looked for: each statement it asked, by whether it looked the place up. */
const aReader = () => {
  const readPage = createPageReader({ sql: api.sql, lane: api.sql }, NEVER_SLOW);
  return async (scope: Scope, page_num: number, audit_status: AuditStatus = 'pending') => {
    const asked = vi.spyOn(api.sql, 'unsafe');
    const { list, total } = await readPage({ scope, audit_status, page_num, page_size: PAGE_SIZE });
    await Promise.all(asked.mock.results.map(({ value }) => value));
    await settle();
    const lookedUp = asked.mock.calls
      .filter(([, parameters]) => parameters?.length === PAGES_PARAMETERS)
      .map(([, parameters]) => (parameters?.[2] as unknown[] | undefined)?.includes(null));
    asked.mockRestore();
    return { ids: list.map((game) => game.game_id), total, lookedUp };
  };
};
/** Lets so much time pass for a reader that it may read the counters again. */
const later = () => {
  const now = performance.now() + 2_000;
  vi.spyOn(performance, 'now').mockReturnValue(now);
};
afterEach(() => vi.restoreAllMocks());

const nth = async (status: 'pending' | 'passed', skip: number): Promise<string> => {
  const [row] = await api.sql`
    select game_id from games where audit_status = ${status} and withdrawn_at is null
    order by game_id offset ${skip} limit 1`;
  return row?.game_id;
};
const move = (game_id: string, to: 'pending' | 'passed') =>
  api.sql`
    update games set audit_status = ${to}, audit_time = case when ${to} = 'passed' then now() end
    where game_id = ${game_id}`;

describe('A reader of pages', () => {
  test('knows where every page begins once two were looked up while the games stood still', async () => {
    const read = aReader();
    for (const scope of [null, 'one']) {
      const pages = Math.ceil((await read(scope, 1)).total / PAGE_SIZE);
      expect((await read(scope, 5)).lookedUp).toEqual([true]);
      expect((await read(scope, 6)).lookedUp).toEqual([true]);
      for (let page_num = pages + 2; page_num >= 1; page_num -= 1) {
        const { ids, lookedUp } = await read(scope, page_num);
        expect(ids).toEqual(await trueIds(scope, page_num));
        expect(lookedUp).toEqual([false]);
      }
    }
  });

  test('never looks up the first pages', async () => {
    const read = aReader();
    for (const page_num of [1, 2, 3]) {
      expect(await read(null, page_num)).toMatchObject({
        ids: await trueIds(null, page_num),
        lookedUp: [false],
      });
    }
  });

  test.for<[what: string, change: () => Promise<unknown>]>([
    ['a game before it is passed', async () => move(await nth('pending', 20), 'passed')],
    ['one before it comes back', async () => move(await nth('passed', 20), 'pending')],
    [
      'one before it goes and one after it comes, which is folded at once',
      async () => {
        await move(await nth('pending', 20), 'passed');
        await move(await nth('passed', 300), 'pending');
        await fold();
      },
    ],
    [
      'one before it is withdrawn',
      async () => api.sql`update games set withdrawn_at = now() where game_id = ${await nth('pending', 3)}`,
    ],
    [
      'games are deleted',
      async () => api.sql`delete from games where game_id < ${await nth('pending', 100)}`,
    ],
  ])('finds a page it knew when %s', async ([, change]) => {
    const read = aReader();
    for (let times = 0; times < 3; times += 1) await read(null, 8);
    expect((await read(null, 8)).lookedUp).toEqual([false]);
    await change();
    const { ids, total, lookedUp } = await read(null, 8);
    expect(ids).toEqual(await trueIds(null, 8));
    expect(lookedUp).toEqual([false, true]);
    const [counted] = await api.sql`
      select count(*)::int as games from games where audit_status = 'pending' and withdrawn_at is null`;
    expect(total).toBe(counted?.games);
    // What waits to be folded is allowed for.
    expect((await read(null, 8)).lookedUp).toEqual([true]);
    later();
    await read(null, 8);
    for (const page_num of [5, 8, 11])
      expect(await read(null, page_num)).toMatchObject({
        ids: await trueIds(null, page_num),
        lookedUp: [false],
      });
  });

  test('reads what is asked for at the same time in one statement, those that moved once more', async () => {
    const readPage = createPageReader({ sql: api.sql, lane: api.sql }, NEVER_SLOW);
    const pages: PageAsked[] = [
      { scope: null, audit_status: 'pending', page_num: 2, page_size: PAGE_SIZE },
      { scope: 'two', audit_status: 'pending', page_num: 2, page_size: 70 },
      { scope: null, audit_status: 'passed', page_num: 7, page_size: 20 },
      { scope: null, audit_status: 'pending', page_num: 9, page_size: PAGE_SIZE },
      { scope: 'nobody', audit_status: 'pending', page_num: 9, page_size: 100 },
      { scope: 'one', audit_status: 'rejected', page_num: 1, page_size: 100 },
    ];
    const readAll = async () => {
      const asked = vi.spyOn(api.sql, 'unsafe');
      const found = await Promise.all([...pages, ...pages].map(readPage));
      await Promise.all(asked.mock.results.map(({ value }) => value));
      await settle();
      const statements = asked.mock.calls.map(([, parameters]) => parameters ?? []);
      asked.mockRestore();
      for (const [index, page] of found.entries()) {
        const alone = await selectPage(api.sql, pages[index % pages.length] as PageAsked);
        expect(page.total).toBe(alone.total);
        expect(page.list.map((game) => game.game_id)).toEqual(alone.list.map((game) => game.game_id));
      }
      return statements
        .filter((parameters) => parameters.length === PAGES_PARAMETERS)
        .map((parameters) => (parameters[0] as unknown[]).length);
    };
    expect(await readAll()).toEqual([pages.length]);
    later();
    expect(await readAll()).toEqual([pages.length]);
    await move(await nth('pending', 20), 'passed');
    // Two pages of one list lay behind a hundred games, and one of the other's.
    expect(await readAll()).toEqual([pages.length, 2]);
  });

  test('asks once for a page while games come and go', async () => {
    const read = aReader();
    for (let round = 0; round < 6; round += 1) {
      await move(await nth('pending', 20), 'passed');
      const { ids, lookedUp } = await read(null, 8);
      expect(ids).toEqual(await trueIds(null, 8));
      expect(lookedUp).toEqual([true]);
    }
  });

  test('forgets what it knew from counters that were put right', async () => {
    await api.sql`
      update game_counts set upto = (select array_agg(n + 30) from unnest(upto) as n)
      where application_id = '' and audit_status = 'pending' and level = 1`;
    const read = aReader();
    for (let times = 0; times < 3; times += 1) await read(null, 8);
    expect((await read(null, 8)).ids).not.toEqual(await trueIds(null, 8));
    await recountGames(api.sql, { repair: true });
    expect((await read(null, 8)).ids).toEqual(await trueIds(null, 8));
  });

  test('shows every page as it is, whatever comes and goes between two of them', async () => {
    const read = aReader();
    let seed = 20_261_121;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    let known = 0;
    for (let step = 0; step < 400; step += 1) {
      later();
      const what = random(24);
      if (what === 0) await move(await nth('pending', random(500)), 'passed');
      if (what === 1) await move(await nth('passed', random(250)), 'pending');
      if (what === 2) await fold();
      const [scope, page_num] = [random(3) === 0 ? 'two' : null, 1 + random(14)];
      const { ids, lookedUp } = await read(scope, page_num);
      expect(ids).toEqual(await trueIds(scope, page_num));
      if (page_num > 3 && lookedUp[0] === false && lookedUp.length === 1) known += 1;
    }
    expect(known).toBeGreaterThan(50);
  });

  test('finds its way whatever the ids are', async () => {
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
    const read = aReader();
    for (const folded of [false, true]) {
      if (folded) await fold();
      later();
      for (const scope of [null, 'one']) {
        for (let times = 0; times < 2; times += 1) await read(scope, 4);
        const pages = Math.ceil((await read(scope, 1)).total / PAGE_SIZE);
        for (let page_num = 1; page_num <= pages + 1; page_num += 1)
          expect(await read(scope, page_num)).toMatchObject({
            ids: await trueIds(scope, page_num),
            lookedUp: [false],
          });
      }
    }
  });

  /** Where the 201st game is said to be by these, once they have had time to learn it. */
  const learn = async (places: ReturnType<typeof createPagePlaces>, audit_status: AuditStatus) => {
    const page: PageAsked = { scope: null, audit_status, page_num: 5, page_size: PAGE_SIZE };
    const asked = vi.spyOn(api.sql, 'unsafe');
    const { state } = await selectPage(api.sql, page);
    for (let times = 0; times < 2; times += 1) places.note(page, state);
    await Promise.all(asked.mock.results.map(({ value }) => value));
    await settle();
    return () => places.placeOf(page);
  };

  test('leaves to the database what lies where it knows too few of the counters', async () => {
    const places = createPagePlaces(api.sql, { ofList: 1, ofAll: 10 });
    // Some 670 games below the root, and some 330: so few are stepped over.
    expect((await learn(places, 'pending'))()).toBeUndefined();
    expect((await learn(places, 'passed'))()).toMatchObject({ ahead: 200 });
  });

  test('forgets what it knew first when it comes to know too much', async () => {
    const places = createPagePlaces(api.sql, { ofList: 10, ofAll: 3 });
    const pending = await learn(places, 'pending');
    expect(pending()).toBeDefined();
    const passed = await learn(places, 'passed');
    expect(passed()).toBeDefined();
    expect(pending()).toBeUndefined();
  });
});
