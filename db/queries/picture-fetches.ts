import type { Queryable } from '#db/client.ts';
import { isFresh, type PictureAddress, readPictureIds } from '#db/queries/pictures.ts';
import { firstRow } from '#db/rows.ts';
import type { ContentOutcome, PictureOutcome } from '#src/contract/pictures.ts';

/** A request that ends without a result (its process was killed) may be repeated after this time. */
const LEASE = '2 minutes';

export type ClaimedPicture = {
  picture_id: string;
  url: string;
  etag: string | null;
  sha256: Buffer | null;
  outcome: PictureOutcome | null;
  /** Is the content of `sha256` known? */
  has_content: boolean;
  /** Does it have all thumbnails that it can have? */
  whole: boolean;
  /** Is it shown, and not in the store of pictures? */
  is_unstored: boolean;
};

/**
 * Is a request for the picture `p` due?
 * @param hasStore is there a store of pictures? Then a request is also due if the store lacks the bytes of a fresh result
 */
const due = (sql: Queryable, hasStore: boolean) => sql`
  (not ${isFresh(sql)}
    -- Later than a lease: a fresh result, and no running request.
    or (${hasStore} and p.fresh_until > now() + ${LEASE}::interval and exists (
      select from picture_contents c where c.sha256 = p.sha256 and c.outcome = 'shown' and c.stored is null)))`;

/** Would `claimPicture` lease this picture? */
export const isDue = async (sql: Queryable, address: PictureAddress, hasStore: boolean): Promise<boolean> => {
  const idOf = await readPictureIds(sql, [address]);
  const fresh = await sql`
    select from pictures p where picture_id = ${idOf(address)} and not ${due(sql, hasStore)}`;
  return fresh.length === 0;
};

/**
 * Leases a picture, so that only one process requests it, and stores its present URL.
 * @returns undefined when its last result is fresh, or another process requests it now
 */
export const claimPicture = async (
  sql: Queryable,
  address: PictureAddress,
  hasStore: boolean,
): Promise<ClaimedPicture | undefined> => {
  const idOf = await readPictureIds(sql, [address]);
  return firstRow(sql<ClaimedPicture[]>`
    with claimed as (
      insert into pictures as p (picture_id, url, fresh_until)
      values (${idOf(address)}, ${address.url}, now() + ${LEASE}::interval)
      on conflict (picture_id) do update set url = excluded.url, fresh_until = excluded.fresh_until
      where ${due(sql, hasStore)}
      returning picture_id, url, etag, sha256, outcome
    )
    select claimed.*, c.sha256 is not null as has_content, coalesce(c.whole, false) as whole,
           coalesce(c.outcome = 'shown' and c.stored is null, false) as is_unstored
    from claimed left join picture_contents c using (sha256)`);
};

/** Ends the lease of a request that was not made. */
export const releasePicture = async (sql: Queryable, picture_id: string): Promise<void> => {
  await sql`update pictures set fresh_until = now() where picture_id = ${picture_id}`;
};

export type PictureResult = {
  picture_id: string;
  outcome: PictureOutcome;
  http_status: number | null;
  freshMs: number;
};

/** Records the result of a request. Without `sha256`, the stored one stays. */
export const recordResult = async (
  sql: Queryable,
  result: PictureResult & { sha256?: Buffer; etag?: string | null; note?: string | null },
): Promise<void> => {
  const { picture_id, freshMs, ...columns } = result;
  await sql`
    update pictures set ${sql(columns as never)}, fetched_at = now(),
      fresh_until = now() + ${freshMs} * interval '1 millisecond'
    where picture_id = ${picture_id}`;
};

export type NewContent = {
  sha256: Buffer;
  outcome: ContentOutcome;
  bytes: number;
  format: string | null;
  width: number | null;
  height: number | null;
  frames: number | null;
  dhash: bigint | null;
  thumbnails: readonly { width: number; webp: Buffer }[];
};

/** Finds the result of decoding these bytes. */
export const findContent = (sql: Queryable, sha256: Buffer) =>
  firstRow(sql<{ outcome: ContentOutcome; whole: boolean }[]>`
    select outcome, whole from picture_contents where sha256 = ${sha256}`);

/** Stores the result of decoding: outcome, size, hash, thumbnails. */
export const saveContent = async (sql: Queryable, content: NewContent): Promise<void> => {
  const { sha256, outcome, bytes, format, width, height, frames, dhash, thumbnails } = content;
  // First, because a content says that it has all of them.
  for (const { width: size, webp } of thumbnails)
    await sql`
      insert into picture_thumbnails (sha256, width, webp) values (${sha256}, ${size}, ${webp})
      on conflict do nothing`;
  await sql`
    insert into picture_contents (sha256, outcome, bytes, format, width, height, frames, dhash)
    values (${sha256}, ${outcome}, ${bytes}, ${format}, ${width}, ${height}, ${frames}, ${dhash?.toString() ?? null}::bigint)
    on conflict (sha256) do update set outcome = excluded.outcome, format = excluded.format, width = excluded.width,
      height = excluded.height, frames = excluded.frames, dhash = excluded.dhash, whole = true, looked_at = now()`;
};

/**
 * Reads the result of the last request.
 * @returns undefined if a request may be running or is due, as it is if the store lacks the bytes
 */
export const readFreshOutcome = async (
  sql: Queryable,
  picture_id: string,
): Promise<PictureOutcome | undefined> => {
  const row = await firstRow(sql<{ outcome: PictureOutcome }[]>`
    select outcome from pictures p
    where picture_id = ${picture_id} and outcome is not null and fresh_until > now() + ${LEASE}::interval and ${isFresh(sql)}`);
  return row?.outcome;
};

/** A game whose pictures are wanted: its addresses, icons first. */
export type PicturedGame = {
  game_id: string;
  application_id: string;
  game_icon: string[];
  game_store_pic: string[];
};

export const listPicturedGames = (sql: Queryable, game_ids: readonly string[]): Promise<PicturedGame[]> =>
  sql<PicturedGame[]>`
    select game_id, application_id, game_icon, game_store_pic from games where game_id = any(${game_ids as string[]}::uuid[])`;

/** Stores the difference hash of each game's first icon, and deletes that of a game whose present icon has none. */
export const saveIconHashes = async (sql: Queryable, games: readonly PicturedGame[]): Promise<void> => {
  const idOf = await readPictureIds(sql, games);
  const icons = games.flatMap(({ game_id, application_id, game_icon: [url] }) =>
    url === undefined ? [] : [{ game_id, picture_id: idOf({ application_id, url }) }],
  );
  await sql`
    with hashes as (
      select i.game_id, c.dhash
      from unnest(${icons.map(({ game_id }) => game_id)}::uuid[], ${icons.map(({ picture_id }) => picture_id)}::uuid[])
             as i (game_id, picture_id)
      join pictures p using (picture_id) join picture_contents c using (sha256)
      where c.dhash is not null
      order by 1
    ), deleted as (
      delete from game_icon_hashes
      where game_id = any(${games.map(({ game_id }) => game_id)}::uuid[]) and game_id not in (select game_id from hashes)
    )
    insert into game_icon_hashes as h (game_id, dhash) select game_id, dhash from hashes
    on conflict (game_id) do update set dhash = excluded.dhash where h.dhash <> excluded.dhash`;
};
