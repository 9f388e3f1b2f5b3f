import sharp from 'sharp';
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { listPicturedGames, saveIconHashes } from '#db/queries/picture-fetches.ts';
import { listSimilarIcons } from '#db/queries/similar-icons.ts';
import { drawPicture } from '#src/sample-application/pictures.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test('a game whose icon was saved again with losses is named, as long as it has that icon; another icon is not', async () => {
  const { sql } = database;
  const pictures = openPictures(sql, ['acme', 'copycat']);
  const original = await drawPicture('the icon', 'icon', 'png');
  const lossy = await sharp(original).webp({ quality: 80 }).toBuffer();
  const icons = {
    original,
    copy: await sharp(lossy).png().toBuffer(),
    other: await drawPicture('another icon', 'icon', 'png'),
  };
  await addApplication(sql, 'acme');
  await addApplication(sql, 'copycat', { name: 'Copycat Games' });
  const ids: Record<string, string> = {};
  for (const [name, bytes] of Object.entries(icons)) {
    const url = `https://cdn.example/${name}.png`;
    const game = fetchedGame({ game_id: name, game_name: name, game_icon: [url], game_store_pic: [] });
    await upsertGames(sql, name === 'copy' ? 'copycat' : 'acme', [game]);
    await pictures.store(url, bytes);
    ids[name] = game.game_id;
  }
  pictures.close();
  await saveIconHashes(sql, await listPicturedGames(sql, Object.values(ids)));
  expect(await listSimilarIcons(sql, ids.original ?? '', 4)).toMatchObject([
    {
      game_name: 'copy',
      application_id: 'copycat',
      application_name: 'Copycat Games',
      audit_status: 'pending',
    },
  ]);
  expect(await listSimilarIcons(sql, ids.other ?? '', 4)).toEqual([]);

  const withoutIcon = fetchedGame(
    { game_id: 'copy', game_name: 'copy', game_icon: [], game_store_pic: [] },
    new Date(),
  );
  await upsertGames(sql, 'copycat', [withoutIcon]);
  await saveIconHashes(sql, await listPicturedGames(sql, Object.values(ids)));
  expect(await listSimilarIcons(sql, ids.original ?? '', 4)).toEqual([]);
});
