import { expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { fetchPictures } from '#src/ingest/specs.ts';
import { startTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { newPrefix, startTestMedia } from '#test/support/media.ts';
import { aPicture, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();

test('two applications that name the same address each have their picture, though one job fetches both', async () => {
  const { sql, databaseUrl } = database;
  const server = await startPictureServer();
  onTestFinished(() => server.close());
  server.files.set('/icon.png', { bytes: await aPicture(1, 'png', { width: 256, height: 256 }) });
  const game_ids: string[] = [];
  for (const application_id of ['acme', 'copycat']) {
    await addApplication(sql, application_id);
    const game = fetchedGame({ game_icon: [`${server.url}/icon.png`], game_store_pic: [] });
    await upsertGames(sql, application_id, [game]);
    game_ids.push(game.game_id);
  }
  const prefix = newPrefix();
  const served = await startTestConsole(database, { prefix });
  onTestFinished(() => served.stop());
  const media = await startTestMedia(databaseUrl, prefix);
  onTestFinished(() => media.stop());
  await served.producer.queue(fetchPictures).add('both', { game_ids, icons_only: true });
  // The hashes are stored when the job has fetched every picture.
  await until('a job ends', async () => (await sql`select from game_icon_hashes`).length > 0);
  const hashes = await sql`select game_id from game_icon_hashes`;
  expect(hashes.map(({ game_id }) => game_id).toSorted()).toEqual(game_ids.toSorted());
  expect(await sql`select from pictures where outcome = 'shown'`).toHaveLength(2);
});
