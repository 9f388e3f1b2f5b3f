/** What the store of pictures has, and what it should have. Hashes are in hex. */
import type { Database, Queryable } from '#db/client.ts';
import { listPinnedPictures } from '#db/queries/picture-pins.ts';
import { firstRow, isOneRow, onlyValue, readColumn } from '#db/rows.ts';
import type { StoreArea } from '#src/contract/pictures.ts';
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

/** Is the decision `a` the last one that stands on its game? */
export const isLast = (sql: Queryable) => sql`
  a.undone_at is null and not exists (
    select from game_audits later
    where later.game_id = a.game_id and later.audit_id > a.audit_id and later.undone_at is null)`;

/** Is the game `g` in the catalogue? */
export const isLive = (sql: Queryable) => sql`g.audit_status = 'passed' and g.withdrawn_at is null`;

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

const lockContent = async (tx: Queryable, sha256: string): Promise<void> => {
  await tx`select pg_advisory_xact_lock(hashtextextended(${sha256}, 0))`;
};

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
    await lockContent(tx, sha256);
    const content = await firstRow(tx<Content[]>`
      select ${contentColumns(tx, keepMs)} from picture_contents c
      where c.sha256 = decode(${sha256}, 'hex') and c.outcome = 'shown'`);
    return work(tx, content);
  });

/** @returns false if the database no longer has these bytes */
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

type StoredPage = { after: string; limit: number; keepMs: number };
/** `last`: the hash after which the next page begins; null: there is none. */
type Stored = { contents: Content[]; last: string | null };

/** Lists the contents that the store has, by hash. */
export const listStored = async (sql: Queryable, { after, limit, keepMs }: StoredPage): Promise<Stored> => {
  const contents = await sql<Content[]>`
    select ${contentColumns(sql, keepMs)} from picture_contents c
    where c.stored is not null and c.sha256 > decode(${after}, 'hex') order by c.sha256 limit ${limit}`;
  return { contents, last: contents.length === limit ? (contents.at(-1)?.sha256 ?? null) : null };
};

/** Lists the contents of these pictures that the store has: their last bytes, and those that decisions name. */
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

/** Lists the contents that the store has of the pictures that decisions on an application's next `limit` games name. */
export const listStoredOfApplication = async (
  sql: Queryable,
  application_id: string,
  { after, limit, keepMs }: StoredPage,
): Promise<Stored> => {
  const games = await sql<{ game_id: string; application_game_id: string }[]>`
    select game_id, application_game_id from games
    where application_id = ${application_id} and application_game_id > ${after}
    order by application_game_id limit ${limit}`;
  const game_ids = games.map(({ game_id }) => game_id);
  const contents = await listStoredOf(sql, await listPinnedPictures(sql, game_ids), keepMs);
  return { contents, last: games.at(-1)?.application_game_id ?? null };
};

/** Counts the pictures that the store should have. */
export const countStored = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ count: number }[]>`select count(*)::int from picture_contents where stored is not null`);

/** Finds those of these pictures that the store should have in an area, with their types. */
export const findStoredIn = (
  sql: Queryable,
  area: StoreArea,
  hashes: readonly string[],
): Promise<Pick<Content, 'sha256' | 'format'>[]> =>
  sql<Pick<Content, 'sha256' | 'format'>[]>`
    select encode(sha256, 'hex') as sha256, format from picture_contents
    where stored = ${area} and sha256 in (select decode(hash, 'hex') from unnest(${hashes as string[]}::text[]) as hash)`;

/** Records that the store does not have these bytes, once no process is changing them. @returns the hashes that it had */
export const forgetStored = async (tx: Queryable, hashes: readonly string[]): Promise<string[]> => {
  for (const sha256 of [...new Set(hashes)].toSorted()) await lockContent(tx, sha256);
  return readColumn(tx<{ sha256: string }[]>`
    update picture_contents set stored = null
    where stored is not null
      and sha256 in (select decode(hash, 'hex') from unnest(${hashes as string[]}::text[]) as hash)
    returning encode(sha256, 'hex')`);
};
