// A game is not passed before its pictures are fetched and stored.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchPictures } from '#src/ingest/specs.ts';
import { passGames } from '#src/operations/decisions.ts';
import { openFileStoreWorld, type StoreWorld } from '#test/pictures/store-world.ts';
import { KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestProducer } from '#test/support/queue.ts';

let world: StoreWorld;
beforeAll(async () => {
  ({ world } = await openFileStoreWorld());
});
afterAll(() => world.close());
const producer = useTestProducer({
  get databaseUrl() {
    return world.api.databaseUrl;
  },
});

test('a game is not passed while a picture is fetched or not stored; it is rejected at any time', async () => {
  await world.serve('g-c', [10, 11]);
  await world.land('g-c');
  expect(await world.decide('g-c')).toBe('fetching');
  await world.look('g-c');
  // The third picture is not there, and will not be: readers get the game without it.
  expect(await world.decide('g-c')).toBe('decided');
  expect(await world.addressesOf('g-c')).toHaveLength(2);
  await world.serve('g-d', [12, 13, 14]);
  await world.land('g-d');
  expect(await world.decide('g-d', 'rejected')).toBe('decided');
});

test('a pass that waits for pictures has them fetched, though no page shows them: its repetition passes the game', async () => {
  await world.serve('g-machine', [100, 101, 102]);
  const game_id = await world.land('g-machine');
  const platform = { keepsPictures: true, producer };
  const pass = async () => {
    const { games } = await operateAs(
      world.api.sql,
      KIM,
      passGames,
      { games: [{ game_id, revision: 1 }] },
      platform,
    );
    return games[0]?.result;
  };
  const queue = (await producer()).queue(fetchPictures);
  for (const _ of ['once', 'once more']) {
    expect(await pass()).toBe('fetching');
    const jobs = await queue.getWaiting();
    expect(jobs.map(({ data }) => data)).toEqual([{ game_ids: [game_id], icons_only: false }]);
  }
  await world.look('g-machine');
  expect(await pass()).toBe('decided');
});

test('bytes that were seen before there was a store are requested again, though they are fresh, and without their entity tag', async () => {
  await world.serve('g-e', [15, 16, 17]);
  await world.land('g-e');
  await world.look('g-e');
  await world.api.sql`
    update picture_contents set stored = null where sha256 in (select sha256 from pictures where url like '%/g-e/%')`;
  expect(await world.decide('g-e')).toBe('fetching');
  world.server.requests.length = 0;
  await world.look('g-e');
  expect(world.server.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await world.decide('g-e')).toBe('decided');
});
