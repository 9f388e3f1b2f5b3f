import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { claimPicture, recordResult, saveContent } from '#db/queries/picture-fetches.ts';
import { passGames } from '#src/operations/decisions.ts';
import { backfillPictures, findMissing } from '#src/pictures/backfill.ts';
import { findDamaged, findOrphaned } from '#src/pictures/verify-store.ts';
import { openStoreWorld, type StoreWorld } from '#test/pictures/store-world.ts';
import { fetchedGame, KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { aPicture } from '#test/support/pictures.ts';
import { startS3Server } from '#test/support/s3-server.ts';

const PICTURES = 1_000;
const PER_GAME = 10;
const BATCH = 500;
const LANES = 8;
const HOUR_MS = 3_600_000;
const SHAPE = {
  outcome: 'shown',
  format: 'png',
  width: 64,
  height: 64,
  frames: 1,
  dhash: 0n,
  thumbnails: [],
} as const;

/** Numbers that a seed determines. */
const randomOf = (seed: string) => {
  let turn = 0;
  return () => Number.parseInt(hash('sha256', `${seed} ${turn++}`).slice(0, 8), 16) / 2 ** 32;
};

type Picture = { url: string; bytes: Buffer };

/** What the media process does with the bytes of a picture that an operator looks at. */
const look = async ({ media, keeper }: StoreWorld, { url, bytes }: Picture): Promise<void> => {
  const claimed = await claimPicture(media, { application_id: 'acme', url }, true);
  if (claimed === undefined) return;
  const sha256 = hash('sha256', bytes, 'buffer');
  await saveContent(media, { ...SHAPE, sha256, bytes: bytes.length });
  const note = (await keeper.keep({ sha256: sha256.toString('hex'), format: 'png' }, bytes)) ?? null;
  const { picture_id } = claimed;
  const result = { picture_id, outcome: 'shown', http_status: 200, sha256, etag: null, note } as const;
  await recordResult(media, { ...result, freshMs: note === null ? HOUR_MS : 0 });
};

test('a thousand pictures, and a bucket whose server is killed at random: nothing is lost that a decision names', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const store = s3.open();
  const world = await openStoreWorld(store, { publicUrl: 'https://pictures.example' });
  onTestFinished(async () => {
    store.close();
    await world.close();
  });
  const { sql } = world.api;
  const random = randomOf('killed');
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      await sleep(2_000 + random() * 8_000);
      await s3.kill();
      kills += 1;
      await sleep(random() * 1_500);
      await s3.start();
    }
  })();
  onTestFinished(async () => {
    isOver = true;
    await killing;
  });

  // A PNG may have anything after its end: so each picture has bytes of its own.
  const png = await aPicture(1, 'png', { width: 64, height: 64 });
  const pictures = new Map<string, Picture[]>();
  for (let game = 0; game < PICTURES / PER_GAME; game += 1) {
    const own = Array.from({ length: PER_GAME }, (_, place): Picture => {
      const path = `/g-${game}/${place}.png`;
      const bytes = Buffer.concat([png, Buffer.from(path)]);
      world.server.files.set(path, { bytes });
      return { url: world.server.url + path, bytes };
    });
    pictures.set(`g-${game}`, own);
  }
  const games = [...pictures].map(([game_id, [icon, ...others]]) =>
    fetchedGame({
      game_id,
      game_icon: icon === undefined ? [] : [icon.url],
      game_store_pic: others.map(({ url }) => url),
      game_store_video: '',
    }),
  );
  for (let from = 0; from < games.length; from += BATCH)
    await upsertGames(sql, 'acme', games.slice(from, from + BATCH));

  // Reviewers look, pass what can be passed, and come back to the rest.
  const waiting = () => sql<{ game_id: string; application_game_id: string; revision: number }[]>`
    select game_id, application_game_id, revision from games where audit_status = 'pending' order by game_id`;
  for (let left = await waiting(); left.length > 0; left = await waiting()) {
    const seen = left.flatMap(({ application_game_id }) => pictures.get(application_game_id) ?? []);
    const looks = Array.from({ length: LANES }, async (_, lane) => {
      for (let at = lane; at < seen.length; at += LANES) await look(world, seen[at] as Picture);
    });
    await Promise.all(looks);
    const pairs = left.map(({ game_id, revision }) => ({ game_id, revision }));
    await operateAs(sql, KIM, passGames, { games: pairs }, { keepsPictures: true });
  }
  // A job of the store ends at a failure; the next one continues.
  for (let isPlaced = false; !isPlaced; )
    isPlaced = await world.tidy().then(
      () => true,
      () => false,
    );
  isOver = true;
  await killing;
  expect(kills).toBeGreaterThan(0);

  const { signal } = new AbortController();
  let isFilled = false;
  const media = (async () => {
    while (!isFilled) await world.check();
  })();
  await backfillPictures({ sql, signal });
  isFilled = true;
  await media;
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
});
