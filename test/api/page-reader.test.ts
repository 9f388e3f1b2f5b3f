import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '#db/client.ts';
import { recountGames, type Scope } from '#db/queries/catalogue.ts';
import { createPageReader } from '#src/api/page-reader.ts';
import { addApplication, startApi, type TestApi } from './support.ts';

const GAMES = 1_000;
const PAGE_SIZE = 50;

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

/** A reader, and how the last page was looked for: each statement it asked, by whether it looked the place up. */
const aReader = () => {
  const readPage = createPageReader(api.sql);
  return async (scope: Scope, page_num: number) => {
    const asked = vi.spyOn(api.sql, 'unsafe');
    const { list, total } = await readPage(scope, 'pending', { page_num, page_size: PAGE_SIZE });
    const lookedUp = asked.mock.calls.map(([statement]) => statement.includes('place_of_game'));
    asked.mockRestore();
    return { ids: list.map((game) => game.game_id), total, lookedUp };
  };
};

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
  test('knows where a page begins from the one before it, once the games stand still', async () => {
    const read = aReader();
    for (const scope of [null, 'one']) {
      const pages = Math.ceil((await read(scope, 1)).total / PAGE_SIZE);
      for (let page_num = 1; page_num <= pages + 1; page_num += 1) {
        const { ids, lookedUp } = await read(scope, page_num);
        expect(ids).toEqual(await trueIds(scope, page_num));
        // Nothing is known of what lies past the end.
        expect(lookedUp).toEqual([page_num > pages]);
      }
      expect((await read(scope, pages)).lookedUp).toEqual([false]);
    }
  });

  test('looks a page up that it knows nothing of', async () => {
    const read = aReader();
    for (const page_num of [9, 5, 7]) {
      const { ids, lookedUp } = await read(null, page_num);
      expect(ids).toEqual(await trueIds(null, page_num));
      expect(lookedUp).toEqual([true]);
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
  });

  test('reads a page once for all who ask for it at the same time, and anew for who asks later', async () => {
    const readPage = createPageReader(api.sql);
    const ask = (page_num: number) => readPage(null, 'pending', { page_num, page_size: PAGE_SIZE });
    const asked = vi.spyOn(api.sql, 'unsafe');
    const pages = await Promise.all([2, 2, 3, 2, 2, 3].map(ask));
    // One for each page, and one for those who came while it was under way.
    expect(asked).toHaveBeenCalledTimes(4);
    asked.mockRestore();
    for (const [at, page_num] of [2, 2, 3, 2, 2, 3].entries())
      expect(pages[at]?.list.map((game) => game.game_id)).toEqual(await trueIds(null, page_num));
    await move(await nth('pending', 20), 'passed');
    expect((await ask(2)).list.map((game) => game.game_id)).toEqual(await trueIds(null, 2));
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

  test('learns nothing from what was read at a place that holds no more', async () => {
    /** Stops the next statement of so many parameters before the database: five with a place, four without. */
    let gate: { parameters: number; reached: () => void; open: Promise<void> } | undefined;
    const unsafe = async (...[statement, parameters, options]: Parameters<Database['unsafe']>) => {
      if (gate?.parameters === parameters?.length) {
        const { reached, open } = gate ?? {};
        gate = undefined;
        reached?.();
        await open;
      }
      return api.sql.unsafe(statement, parameters, options);
    };
    const stopNext = (parameters: number) => {
      const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gate = { parameters, reached: reached.resolve, open: open.promise };
      return { reached: reached.promise, open: open.resolve };
    };
    const readPage = createPageReader({ unsafe } as unknown as Database);
    const ask = async (page_num: number) => {
      const { list } = await readPage(null, 'pending', { page_num, page_size: PAGE_SIZE });
      return list.map((game) => game.game_id);
    };
    for (let times = 0; times < 2; times += 1)
      for (let page_num = 4; page_num <= 12; page_num += 1) await ask(page_num);

    await move(await nth('pending', 20), 'passed');
    const atItsPlace = stopNext(5);
    const late = ask(8);
    await atItsPlace.reached;
    // Another call comes to know the new state first.
    await ask(6);
    const lookedUp = stopNext(4);
    atItsPlace.open();
    await lookedUp.reached;
    expect(await ask(9)).toEqual(await trueIds(null, 9));
    lookedUp.open();
    expect(await late).toEqual(await trueIds(null, 8));
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
      const what = random(8);
      if (what === 0) await move(await nth('pending', random(500)), 'passed');
      if (what === 1) await move(await nth('passed', random(250)), 'pending');
      if (what === 2) await fold();
      const [scope, page_num] = [random(3) === 0 ? 'two' : null, 1 + random(14)];
      const { ids, lookedUp } = await read(scope, page_num);
      expect(ids).toEqual(await trueIds(scope, page_num));
      if (page_num > 3 && lookedUp[0] === false && lookedUp.length === 1) known += 1;
    }
    expect(known).toBeGreaterThan(20);
  });
});
