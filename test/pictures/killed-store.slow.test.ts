import { createHash, hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { passGames } from '#src/operations/decisions.ts';
import { backfillPictures, findMissing } from '#src/pictures/backfill.ts';
import { findDamaged, findOrphaned } from '#src/pictures/verify-store.ts';
import { openStoreWorld } from '#test/pictures/store-world.ts';
import { fetchedGame, KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { startS3Server } from '#test/support/s3-server.ts';

const PICTURES = 10_000;
const PER_GAME = 10;
const BATCH = 500;

/** A picture of eight times eight pixels that no other number has. */
const aTinyPicture = (n: number): Promise<Buffer> => {
  const raw = createHash('shake256', { outputLength: 192 }).update(String(n)).digest();
  return sharp(raw, { raw: { width: 8, height: 8, channels: 3 } })
    .png()
    .toBuffer();
};

/** Numbers that a seed determines. */
const randomOf = (seed: string) => {
  let turn = 0;
  return () => Number.parseInt(hash('sha256', `${seed} ${turn++}`).slice(0, 8), 16) / 2 ** 32;
};

test('10,000 pictures, and a bucket whose server is killed at random: nothing is lost that a decision names', async () => {
  const s3 = await startS3Server();
  const store = s3.open();
  const world = await openStoreWorld(store, { publicUrl: 'https://pictures.example' });
  const { sql } = world.api;
  const random = randomOf('killed');
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      await sleep(1_000 + random() * 4_000);
      await s3.kill();
      kills += 1;
      await sleep(random() * 1_500);
      await s3.start();
    }
  })();

  const games = await Promise.all(
    Array.from({ length: PICTURES / PER_GAME }, async (_, game) => {
      const urls: string[] = [];
      for (let place = 0; place < PER_GAME; place += 1) {
        const path = `/g-${game}/${place}.png`;
        world.server.files.set(path, { bytes: await aTinyPicture(game * PER_GAME + place) });
        urls.push(world.server.url + path);
      }
      const [icon = '', ...others] = urls;
      return fetchedGame({
        game_id: `g-${game}`,
        game_icon: [icon],
        game_store_pic: others,
        game_store_video: '',
      });
    }),
  );
  for (let from = 0; from < games.length; from += BATCH)
    await upsertGames(sql, 'acme', games.slice(from, from + BATCH));

  // Reviewers look, pass what can be passed, and come back to the rest.
  const waiting = () => sql<{ game_id: string; application_game_id: string; revision: number }[]>`
    select game_id, application_game_id, revision from games where audit_status = 'pending' order by game_id`;
  for (let left = await waiting(); left.length > 0; left = await waiting()) {
    await sql`update pictures set fresh_until = now() where outcome = 'shown'`;
    await Promise.all(
      [0, 1, 2].map(async (lane) => {
        for (const { application_game_id } of left.filter((_, n) => n % 3 === lane))
          await world.look(application_game_id);
      }),
    );
    const pairs = left.map(({ game_id, revision }) => ({ game_id, revision }));
    await operateAs(sql, KIM, passGames, { games: pairs }, { keepsPictures: true });
    await world.tidy().catch(() => {});
  }
  isOver = true;
  await killing;
  expect(kills).toBeGreaterThan(5);

  const { signal } = new AbortController();
  let isFilled = false;
  const media = (async () => {
    while (!isFilled) await world.check();
  })();
  await backfillPictures({ sql, signal });
  isFilled = true;
  await media;
  await world.tidy();
  let checked = 0;
  const damaged = findDamaged({ sql, store, signal }, (pictures) => {
    checked += pictures;
  });
  expect((await Array.fromAsync(damaged)).flat()).toEqual([]);
  expect(checked).toBe(PICTURES);
  expect(await findMissing({ sql, signal })).toBe(0);
  // What a killed server wrote and did not confirm may be there twice, and the next repair deletes it.
  const orphans = (await Array.fromAsync(findOrphaned({ sql, store, signal }))).flat();
  expect(orphans.length).toBeLessThan(PICTURES / 100);
  store.close();
  await world.close();
  await s3.close();
});
