import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import { firstRow } from '#db/rows.ts';
import type { PictureOutcome, ThumbnailWidth } from '#src/contract/pictures.ts';
import { FRESH_MS, outcomeAt, pictureId } from '#src/rules/pictures.ts';

/** A picture as pages show it. Hashes are in hex. */
export type PictureView = {
  picture_id: string;
  /** The address of the last request. */
  url: string;
  /** The last bytes: null before the first. */
  sha256: string | null;
  /** The outcome of the last request, as it counts at the address that was given; null while none has ended. */
  outcome: PictureOutcome | null;
  http_status: number | null;
  note: string | null;
  fetched_at: Date | null;
  /** Would a look now cause a request? */
  stale: boolean;
  /** Does the content have thumbnails? `whole`: of every width. */
  has_thumbnail: boolean;
  whole: boolean;
  /** Does the store of pictures have the bytes? */
  is_stored: boolean;
  bytes: number | null;
  format: string | null;
  width: number | null;
  height: number | null;
  frames: number | null;
};

/** The address of a picture of an application. */
export type PictureAddress = { application_id: string; url: string };

/** Pictures that were read. Addresses of the same identity have the same picture. */
export type PictureSet = { get: (address: PictureAddress) => PictureView | undefined };

/** The addresses of a game's pictures, icons first. */
export const addressesOf = (game: {
  application_id: string;
  game_icon: readonly string[];
  game_store_pic?: readonly string[];
}): PictureAddress[] =>
  [...game.game_icon, ...(game.game_store_pic ?? [])].map((url) => ({
    application_id: game.application_id,
    url,
  }));

/**
 * Is the last result of the picture `p` fresh, or is the picture requested now? A time further ahead was written before the
 * clock of Postgres was set back.
 */
export const isFresh = (sql: Queryable) => sql`
  coalesce(p.fresh_until between now() and now() + interval '1 minute' + ${FRESH_MS} * interval '1 millisecond', false)`;

/** Reads the rules of these applications, and so the ids of their pictures. */
export const readPictureIds = async (
  sql: Queryable,
  named: readonly { application_id: string }[],
): Promise<(address: PictureAddress) => string> => {
  const ruleOf = await readIdentityRules(sql, named);
  return ({ application_id, url }) => pictureId(application_id, url, ruleOf(application_id));
};

/** Reads pictures by their addresses. */
export const findPictures = async (
  sql: Queryable,
  addresses: readonly PictureAddress[],
): Promise<PictureSet> => {
  if (addresses.length === 0) return { get: () => undefined };
  const idOf = await readPictureIds(sql, addresses);
  const rows = await sql<PictureView[]>`
    select p.picture_id, p.url, encode(p.sha256, 'hex') as sha256, p.outcome, p.http_status, p.note, p.fetched_at,
           not ${isFresh(sql)} as stale, coalesce(c.outcome = 'shown', false) as has_thumbnail,
           coalesce(c.whole, false) as whole, c.stored is not null as is_stored, c.bytes, c.format, c.width, c.height, c.frames
    from pictures p left join picture_contents c using (sha256)
    where p.picture_id = any(${[...new Set(addresses.map(idOf))]}::uuid[])`;
  const byId = new Map(rows.map((row) => [row.picture_id, row]));
  return {
    get: (address) => {
      const row = byId.get(idOf(address));
      return row && { ...row, outcome: outcomeAt(address.url, row, new Date()) };
    },
  };
};

/** Reads the first icons of games. */
export const findIcons = (
  sql: Queryable,
  games: readonly { application_id: string; game_icon?: readonly string[] }[],
): Promise<PictureSet> =>
  findPictures(
    sql,
    games.flatMap(({ application_id, game_icon = [] }) =>
      game_icon.slice(0, 1).map((url) => ({ application_id, url })),
    ),
  );

/** Content by its hash in hex, for pictures of earlier decisions. */
export type ContentView = Pick<
  PictureView,
  'has_thumbnail' | 'whole' | 'bytes' | 'format' | 'width' | 'height' | 'frames'
> & { sha256: string; outcome: PictureOutcome };

export const findContents = async (
  sql: Queryable,
  hashes: readonly string[],
): Promise<Map<string, ContentView>> => {
  if (hashes.length === 0) return new Map();
  const rows = await sql<ContentView[]>`
    select encode(sha256, 'hex') as sha256, outcome, outcome = 'shown' as has_thumbnail, whole, bytes, format, width,
           height, frames
    from picture_contents
    where sha256 in (select decode(hash, 'hex') from unnest(${hashes as string[]}::text[]) hash)`;
  return new Map(rows.map((row) => [row.sha256, row]));
};

/** A look is recorded at most once in this time, so `prune` may delete a thumbnail this much early. */
const RECORDED_EVERY = '1 day';

/**
 * Reads a thumbnail, the largest up to `width`, and records that it was shown.
 * @returns undefined when there is none
 */
export const readThumbnail = async (
  sql: Queryable,
  sha256: string,
  width: ThumbnailWidth,
): Promise<Buffer | undefined> => {
  const row = await firstRow(sql<{ webp: Buffer; is_old: boolean }[]>`
    select t.webp, c.looked_at < now() - ${RECORDED_EVERY}::interval as is_old
    from picture_thumbnails t join picture_contents c using (sha256)
    where t.sha256 = decode(${sha256}, 'hex') and t.width <= ${width} order by t.width desc limit 1`);
  if (row?.is_old)
    await sql`update picture_contents set looked_at = now() where sha256 = decode(${sha256}, 'hex')`;
  return row?.webp;
};
