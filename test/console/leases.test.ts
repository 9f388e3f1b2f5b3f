// Ten reviewers in one lane: no game is led to two within its lease, and none is left over.
import { expect, test } from 'vitest';
import { claimFirstGame, leaseGame } from '#db/queries/game-leases.ts';
import { upsertGames } from '#db/queries/games.ts';
import { leadOn } from '#src/console/next-game.ts';
import { cursorAfter } from '#src/lists/review.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const REVIEWERS = 10;
const TARGET_MS = 48 * 3_600_000;
/** A game_id begins with the time of its arrival. */
const dueOf = (game_id: string) =>
  new Date(Number.parseInt(game_id.replace('-', '').slice(0, 12), 16) + TARGET_MS);
const GAMES = 200;

const database = useTestDatabase();
const land = async (count: number) => {
  await addApplication(database.sql, 'app');
  const games = Array.from({ length: count }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
  await upsertGames(database.sql, 'app', games);
  return games.map(({ game_id }) => game_id).sort();
};

test('ten reviewers decide a lane: each game is led to one of them, and those of a reviewer who left are led to others', async () => {
  const { sql } = database;
  const game_ids = await land(GAMES);
  const options = { sql } as ConsoleOptions;
  const filters = { lane: 'new' as const, application: undefined, q: undefined };
  const led: string[] = [];
  const review = async (reviewer: number): Promise<void> => {
    const login = `reviewer-${reviewer}`;
    let after: string | undefined;
    let back: string | undefined;
    for (let decided = 0; ; decided += 1) {
      const { game_id } = await leadOn(options, login, { filters, after, back });
      if (game_id === undefined) {
        if (after === undefined) return;
        // From the head of the lane, as Start does.
        after = undefined;
        continue;
      }
      led.push(game_id);
      // Every third reviewer closes the browser with a game open.
      if (reviewer % 3 === 0 && decided === 7) return;
      await decideGame(sql, { game_id, audit_status: 'passed' });
      after = cursorAfter({ game_id, due: dueOf(game_id) });
      back = game_id;
    }
  };
  await Promise.all(Array.from({ length: REVIEWERS }, (_, n) => review(n)));
  expect(new Set(led).size).toBe(led.length);
  const waiting = async () =>
    (await sql<{ n: number }[]>`select count(*)::int as n from games where audit_status = 'pending'`)[0]?.n;
  expect(await waiting()).toBe(4);
  await sql`update game_leases set leased_until = now() - interval '1 second'`;
  await review(1);
  expect(await waiting()).toBe(0);
  expect(new Set(led)).toEqual(new Set(game_ids));
});

test('the lease of a page renews that of the game that it fetched ahead, and of no other', async () => {
  const { sql } = database;
  const [first = '', second = '', third = ''] = await land(3);
  expect(await leaseGame(sql, first, 'olga')).toBe('olga');
  expect(await claimFirstGame(sql, [first, second], 'olga', null)).toBe(first);
  expect(await claimFirstGame(sql, [second], 'olga', first)).toBe(second);
  expect(await claimFirstGame(sql, [third], 'olga', null)).toBe(third);
  await sql`update game_leases set leased_until = now() + interval '1 second'`;
  await leaseGame(sql, first, 'olga');
  const rows = await sql<{ game_id: string }[]>`
    select game_id from game_leases where leased_until > now() + interval '30 seconds' order by game_id`;
  expect(rows.map(({ game_id }) => game_id)).toEqual([first, second].sort());
  expect(await leaseGame(sql, second, 'rui')).toBe('olga');
  expect(await claimFirstGame(sql, [first, second, third], 'rui', null)).toBeUndefined();
});
