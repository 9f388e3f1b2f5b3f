import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { Database } from '#db/client.ts';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { pictureId } from '#src/rules/pictures.ts';
import { aPicture } from '#test/support/pictures.ts';

/** Each has an icon, and pictures of the store besides. */
const PICTURES = 5;

/**
 * Gives games an icon and four pictures each, all different, with the thumbnails that `media` makes. Games that were
 * loaded without their revision get it.
 */
export const addLanePictures = async (sql: Database, game_ids: readonly string[]): Promise<void> => {
  const image = sharp(await aPicture(1, 'png', { width: 1_280, height: 720 }));
  const thumbnails = await Promise.all(
    THUMBNAIL_WIDTHS.map(async (width) => ({
      width,
      webp: await image.clone().resize({ width }).webp().toBuffer(),
    })),
  );
  const games = await sql<{ game_id: string; application_id: string }[]>`
    select game_id, application_id from games where game_id = any(${game_ids as string[]}::uuid[])`;
  const rule = identityRule([]);
  const pictures = games.flatMap(({ game_id, application_id }) =>
    Array.from({ length: PICTURES }, (_, place) => {
      const url = `https://cdn.example/${game_id}/${place}.png`;
      const picture_id = pictureId(application_id, url, rule);
      return { game_id, url, picture_id, sha256: createHash('sha256').update(url).digest() };
    }),
  );
  const fresh_until = new Date(Date.now() + 3_000_000);
  for (const { picture_id, url, sha256 } of pictures) {
    const picture = { picture_id, url, sha256, outcome: 'shown', fetched_at: new Date(), fresh_until };
    const content = { sha256, outcome: 'shown', bytes: 50_000, format: 'png', width: 1_280, height: 720 };
    await sql`insert into pictures ${sql({ ...picture })} on conflict do nothing`;
    await sql`insert into picture_contents ${sql({ ...content })} on conflict do nothing`;
    await sql`
      insert into picture_thumbnails ${sql(thumbnails.map((each) => ({ sha256, ...each })))} on conflict do nothing`;
  }
  await sql`
    insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic,
      content_hash, fetched_at)
    select game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at
    from games where game_id = any (${game_ids as string[]}::uuid[])
    on conflict do nothing`;
  for (const game_id of game_ids) {
    const [icon = '', ...store] = pictures.filter((each) => each.game_id === game_id).map(({ url }) => url);
    for (const table of ['games', 'game_revisions'])
      await sql`
        update ${sql(table)} set game_icon = ${[icon]}, game_store_pic = ${store} where game_id = ${game_id}`;
  }
};
