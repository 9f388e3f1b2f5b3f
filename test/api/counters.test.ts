import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { LOCKS } from '#db/locks.ts';
import { recountGames, type Scope, selectGamePage } from '#db/queries/api-games.ts';
import { upsertGames } from '#db/queries/games.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import { useTestApi } from '#test/support/api.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const api = useTestApi();
beforeAll(async () => {
  for (const id of ['one', 'two', 'three']) await addApplication(api.sql, id);
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A UUID v7 with this timestamp. */
const idAt = (ms: number): string => {
  const hex = Math.floor(ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${randomUUIDv7().slice(13)}`;
};

const insert = (application_id: string, ids: string[]) =>
  upsertGames(
    api.sql,
    application_id,
    ids.map((game_id) => fetchedGame({ game_id }, new Date(), { game_id })),
  );

/** Compares the pages of 100 with all games, read and sorted by one query. */
const expectPagesToAgree = async (scope: Scope, audit_status: AuditStatus) => {
  const mine = scope === null ? api.sql`` : api.sql`and application_id = ${scope}`;
  const rows = await api.sql`
    select game_id from games where audit_status = ${audit_status} and withdrawn_at is null ${mine} order by game_id`;
  const paged: string[] = [];
  for (let page_num = 1; ; page_num += 1) {
    const { total, list } = await selectGamePage(api.sql, { scope, audit_status, page_num, page_size: 100 });
    expect(total).toBe(rows.length);
    if (list.length === 0) break;
    paged.push(...list.map((game) => game.game_id));
  }
  expect(paged).toEqual(rows.map((row) => row.game_id));
};

describe('section 4.1: data.total is exact and any page is found', () => {
  test('for any ids: years apart, in one millisecond, interleaved with other applications', async () => {
    const start = Date.parse('2026-03-01');
    const spread = Array.from({ length: 1_000 }, (_, i) =>
      idAt(start + ((i * 7_919) % 1_000) * DAY_MS * 1.5),
    );
    const burst = Array.from({ length: 700 }, () => idAt(start + 77 * DAY_MS));
    const drip = Array.from({ length: 700 }, (_, i) => idAt(start + 99 * DAY_MS + i * 1_100));
    for (const [i, application_id] of ['one', 'two', 'three'].entries()) {
      for (const ids of [spread, burst, drip])
        await insert(
          application_id,
          ids.filter((_, at) => at % 3 === i),
        );
    }
    for (const scope of [null, 'one', 'two']) await expectPagesToAgree(scope, 'pending');
    expect(await recountGames(api.sql, { repair: false })).toEqual([]);
  });

  test('after games were passed, rejected, changed back to pending, withdrawn and restored', async () => {
    await api.sql`update games set audit_status = 'passed', audit_time = now() where hashtext(game_id::text) % 3 = 0`;
    await api.sql`update games set audit_status = 'rejected', audit_time = now() where hashtext(game_id::text) % 5 = 0`;
    await api.sql`update games set audit_status = 'pending', audit_time = null where hashtext(game_id::text) % 7 = 0`;
    await api.sql`update games set withdrawn_at = now() where hashtext(game_id::text) % 4 = 0`;
    await api.sql`update games set withdrawn_at = null where hashtext(game_id::text) % 8 = 0`;
    await api.sql`delete from games where hashtext(game_id::text) % 11 = 0`;
    for (const audit_status of ['pending', 'passed', 'rejected'] as const) {
      for (const scope of [null, 'three']) await expectPagesToAgree(scope, audit_status);
    }
    expect(await recountGames(api.sql, { repair: false })).toEqual([]);
  });

  test('a game that becomes pending again moves between the counts', async () => {
    await addApplication(api.sql, 'moved');
    const game = fetchedGame({ game_id: 'g' }, new Date(1_000));
    await upsertGames(api.sql, 'moved', [game]);
    const totals = async () => {
      const read = async (audit_status: AuditStatus) =>
        (await selectGamePage(api.sql, { scope: 'moved', audit_status, page_num: 1, page_size: 1 })).total;
      return [await read('pending'), await read('passed')];
    };
    expect(await totals()).toEqual([1, 0]);
    await decideGame(api.sql, {
      game_id: game.game_id,
      revision: 1,
      audit_status: 'passed',
    });
    expect(await totals()).toEqual([0, 1]);
    await upsertGames(api.sql, 'moved', [{ ...game, content_hash: 'changed', fetched_at: new Date(2_000) }]);
    expect(await totals()).toEqual([1, 0]);
    await upsertGames(api.sql, 'moved', [{ ...game, content_hash: 'changed', fetched_at: new Date(3_000) }]);
    expect(await totals()).toEqual([1, 0]);
  });

  test('games of a transaction that is rolled back are not counted', async () => {
    await addApplication(api.sql, 'undone');
    const undone = new Error('undone');
    const attempt = api.sql.begin(async (tx) => {
      const games = Array.from({ length: 400 }, (_, i) =>
        fetchedGame({ game_id: `g${i}` }, new Date(), { game_id: idAt(i * MINUTE_MS) }),
      );
      await upsertGames(tx, 'undone', games);
      const { total } = await selectGamePage(tx, {
        scope: 'undone',
        audit_status: 'pending',
        page_num: 1,
        page_size: 1,
      });
      expect(total).toBe(400);
      throw undone;
    });
    await expect(attempt).rejects.toBe(undone);
    const { total } = await selectGamePage(api.sql, {
      scope: 'undone',
      audit_status: 'pending',
      page_num: 1,
      page_size: 1,
    });
    expect(total).toBe(0);
    expect(await recountGames(api.sql, { repair: false })).toEqual([]);
  });

  test('total agrees with the pages at every moment while games arrive and are decided', async () => {
    const names = ['busy-1', 'busy-2', 'busy-3'];
    for (const name of names) await addApplication(api.sql, name);
    let writing = true;
    const write = async (application_id: string) => {
      for (let round = 0; round < 15; round += 1) {
        const games = Array.from({ length: 100 }, (_, i) =>
          fetchedGame({ game_id: `${round}-${i}` }, new Date(), {
            game_id: idAt(Date.now() - ((i * 37) % 100) * MINUTE_MS),
          }),
        );
        await upsertGames(api.sql, application_id, games);
        for (const { game_id } of games.slice(0, 10)) {
          await decideGame(api.sql, {
            game_id,
            revision: 1,
            audit_status: 'passed',
          });
        }
      }
    };
    const readBoth = async (name: string) => {
      return api.sql.begin('isolation level repeatable read', async (tx) => {
        const page = await selectGamePage(tx, {
          scope: name,
          audit_status: 'pending',
          page_num: 7,
          page_size: 100,
        });
        const rows = await tx`
          select count(*)::int as games from games
          where application_id = ${name} and audit_status = 'pending' and withdrawn_at is null`;
        return { page, counted: rows[0]?.games as number };
      });
    };
    const read = async () => {
      let reads = 0;
      while (writing) {
        for (const name of names) {
          const { page, counted } = await readBoth(name);
          expect(page.total).toBe(counted);
          expect(page.list).toHaveLength(Math.min(100, Math.max(0, page.total - 600)));
          reads += 1;
        }
      }
      return reads;
    };
    const reading = read();
    await Promise.all(names.map(write));
    writing = false;
    expect(await reading).toBeGreaterThan(10);
    expect(await recountGames(api.sql, { repair: false })).toEqual([]);
  });
});

test('changes are folded into the counters while a worker reconciles, but not while another folds', async () => {
  const waiting = async () => {
    const [row] = await api.sql<
      { changes: number }[]
    >`select count(*)::integer as changes from game_count_changes`;
    return row?.changes ?? 0;
  };
  const under = (lock: number, fold: () => Promise<unknown>) =>
    api.sql.begin(async (other) => {
      await other`select pg_advisory_xact_lock(${lock})`;
      await fold();
    });
  const fold = () => api.sql`select fold_game_counts()`;
  await fold();
  await under(LOCKS.gameCounts, async () => {
    await insert('one', [idAt(Date.parse('2026-04-01'))]);
    await fold();
  });
  expect(await waiting()).toBe(1);
  await under(LOCKS.reconcile, fold);
  expect(await waiting()).toBe(0);
});

describe('drift', () => {
  test('is found and repaired, at every level, while games arrive', async () => {
    await api.sql`update game_counts set games = games + 5 where application_id = 'one' and level = 0 and audit_status = 'pending'`;
    await api.sql`delete from game_counts where application_id = '' and level = 3`;
    const drift = await recountGames(api.sql, { repair: false });
    expect(drift).toContainEqual({
      application_id: 'one',
      audit_status: 'pending',
      games_off: -5,
      counters_off: 1,
    });
    expect(drift.filter((row) => row.application_id === '').map((row) => row.games_off)).toEqual([
      0, 0, 0, 0,
    ]);

    const arriving = (async () => {
      for (let i = 0; i < 20; i += 1) await insert('two', [idAt(Date.now() + i * DAY_MS)]);
    })();
    expect(await recountGames(api.sql, { repair: true })).toHaveLength(drift.length);
    await arriving;
    expect(await recountGames(api.sql, { repair: false })).toEqual([]);
    for (const scope of [null, 'one']) await expectPagesToAgree(scope, 'pending');
  });
});
