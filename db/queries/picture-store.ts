/** What the store of pictures has, and what it should have. Hashes are in hex. */
import type { Database, Queryable } from '#db/client.ts';
import { countRows, firstRow, isOneRow, onlyValue } from '#db/rows.ts';
import type { PictureOutcome, StoreArea } from '#src/contract/pictures.ts';
import type { ImageFormat } from '#src/rules/pictures.ts';

/** Bytes that the store has, or could have. */
export type Content = {
  sha256: string;
  format: ImageFormat;
  stored: StoreArea | null;
  /** `passed`: a passed game has them. `seen`: another decision that stands names them. Null: none does. */
  belongs: StoreArea | null;
  /** Was it last shown before PICTURE_KEEP? */
  is_old: boolean;
};

/** The decision `a` is the last one that stands on its game. */
const isLast = (sql: Queryable) => sql`
  a.undone_at is null and not exists (
    select from game_audits later
    where later.game_id = a.game_id and later.audit_id > a.audit_id and later.undone_at is null)`;

const isLive = (sql: Queryable) => sql`g.audit_status = 'passed' and g.withdrawn_at is null`;

/** The columns of `Content` of `picture_contents c`. */
const contentColumns = (sql: Queryable, keepMs: number) => sql`
  encode(c.sha256, 'hex') as sha256, c.format, c.stored, c.looked_at < now() - ${keepMs} * interval '1 millisecond' as is_old,
  case
    when exists (
      select from picture_pins p join game_audits a using (audit_id) join games g using (game_id)
      where p.sha256 = c.sha256 and ${isLast(sql)} and ${isLive(sql)}) then 'passed'
    when exists (
      select from picture_pins p join game_audits a using (audit_id)
      where p.sha256 = c.sha256 and ${isLast(sql)}) then 'seen'
  end as belongs`;

/**
 * Does work on one picture of the store, which no other process of the fleet changes meanwhile.
 * @param work gets undefined for bytes that the database does not know, or that are not shown
 */
export const withContent = <Result>(
  sql: Database,
  sha256: string,
  keepMs: number,
  work: (tx: Queryable, content: Content | undefined) => Promise<Result>,
): Promise<Result> =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${sha256}, 0))`;
    const content = await firstRow(tx<Content[]>`
      select ${contentColumns(tx, keepMs)} from picture_contents c
      where c.sha256 = decode(${sha256}, 'hex') and c.outcome = 'shown'`);
    return work(tx, content);
  });

/** @returns false if the database knows the bytes no more */
export const setStored = (tx: Queryable, sha256: string, stored: StoreArea | null): Promise<boolean> =>
  isOneRow(tx`update picture_contents set stored = ${stored} where sha256 = decode(${sha256}, 'hex')`);

/**
 * Records that the store no longer has bytes, unless a decision names them. A pass locks its pictures until its end, and
 * reads afterwards whether they are stored.
 * @returns false if one names them
 */
export const dropUnnamed = async (tx: Queryable, sha256: string): Promise<boolean> => {
  await tx`select from picture_contents where sha256 = decode(${sha256}, 'hex') for update`;
  return isOneRow(tx`
    update picture_contents c set stored = null
    where c.sha256 = decode(${sha256}, 'hex') and not exists (
      select from picture_pins p join game_audits a using (audit_id) where p.sha256 = c.sha256 and ${isLast(tx)})`);
};

/** What the store has, by hash. */
export const listStored = (
  sql: Queryable,
  { after, limit, keepMs }: { after: string; limit: number; keepMs: number },
): Promise<Content[]> =>
  sql<Content[]>`
    select ${contentColumns(sql, keepMs)} from picture_contents c
    where c.stored is not null and c.sha256 > decode(${after}, 'hex') order by c.sha256 limit ${limit}`;

/** What the store has of these pictures: of their last bytes, and of those that decisions name. */
export const listStoredOf = (
  sql: Queryable,
  picture_ids: readonly string[],
  keepMs: number,
): Promise<Content[]> =>
  sql<Content[]>`
    select ${contentColumns(sql, keepMs)} from picture_contents c
    where c.stored is not null and c.sha256 in (
      select sha256 from pictures where picture_id = any(${picture_ids as string[]}::uuid[])
      union select sha256 from picture_pins where picture_id = any(${picture_ids as string[]}::uuid[]))`;

/** A picture of a passed game whose bytes the store does not have. */
export type MissingPicture = {
  picture_id: string;
  game_id: string;
  url: string;
  /** Of the last request. */
  outcome: PictureOutcome | null;
  http_status: number | null;
};

/**
 * The pictures of passed games after one that were decided on with bytes, or before the first bytes, which the store does
 * not have.
 * @returns the pictures of at most `limit` games, and the last game that was read; null if there was none
 */
export const listMissing = async (
  sql: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<{ missing: MissingPicture[]; games: number; last: string | null }> => {
  const rows = await sql<(MissingPicture & { is_missing: boolean })[]>`
    with passed as materialized (
      select g.game_id, g.game_icon, g.game_store_pic from games g
      where ${isLive(sql)} and g.game_id > ${after} order by g.game_id limit ${limit}
    )
    select passed.game_id, p.picture_id, i.outcome, i.http_status,
           coalesce((case when p.is_icon then passed.game_icon else passed.game_store_pic end)[p.place + 1], i.url) as url,
           p.audit_id is not null and (p.sha256 is null or (c.outcome = 'shown' and c.stored is null)) as is_missing
    from passed left join lateral (
      select a.audit_id from game_audits a where a.game_id = passed.game_id and ${isLast(sql)}
    ) last on true
    left join picture_pins p on p.audit_id = last.audit_id
    left join picture_contents c on c.sha256 = p.sha256
    left join pictures i on i.picture_id = p.picture_id
    order by passed.game_id, p.is_icon desc, p.place`;
  return {
    missing: rows.filter(({ is_missing }) => is_missing).map(({ is_missing: _, ...picture }) => picture),
    games: new Set(rows.map(({ game_id }) => game_id)).size,
    last: rows.at(-1)?.game_id ?? null,
  };
};

/** Lets the media process request those of these pictures soon that were not requested since a moment. @returns how many */
export const requestSoon = (sql: Queryable, picture_ids: readonly string[], since: Date): Promise<number> =>
  countRows(sql`
    update pictures set next_check_at = now()
    where picture_id = any(${picture_ids as string[]}::uuid[]) and coalesce(fetched_at < ${since}, true)`);

/** How many of these pictures were not requested since a moment. */
export const countUnrequested = (sql: Queryable, picture_ids: readonly string[], since: Date) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int from pictures
    where picture_id = any(${picture_ids as string[]}::uuid[]) and coalesce(fetched_at < ${since}, true)`);
