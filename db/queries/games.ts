import type { InferSelectModel } from 'drizzle-orm';
import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import { detailFetchedAt } from '#db/queries/detail-ages.ts';
import { firstRow, readColumn, readValue } from '#db/rows.ts';
import type { gameAudits, gameRevisions, games } from '#db/schema/games.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { CONTENT, CONTENT_COLUMNS, contentHash, type GameContent } from '#src/rules/mapping.ts';
import { gameLexemes } from '#src/rules/search-words.ts';

export type GameRow = Omit<InferSelectModel<typeof games>, 'search'>;
export type GameRevisionRow = InferSelectModel<typeof gameRevisions>;
export type GameAuditRow = InferSelectModel<typeof gameAudits>;

/** One game from a detail call, ready to be written. */
export type FetchedGame = GameContent & {
  /** The platform's `game_id` if the game is new. */
  game_id: string;
  application_game_id: string;
  content_hash: string;
  addresses_end_at: Date | null;
  /** Hash of the list entry; "" when unknown (`pull`). */
  list_hash: string;
  fetched_at: Date;
};

/** A game that was compared field by field, because its stored hash is of another rule of identities. */
type ComparedGame = FetchedGame & {
  is_compared: true;
  /** The stored hash if the content is the same. */
  equal_hash: string | null;
};

type WrittenGames = {
  inserted: string[];
  updated: string[];
  /** Games that were not written, because their hashes cannot be compared. */
  doubtful: string[];
};

/** The content columns in a statement: their names, their types, and an update to a newer content. */
export const CONTENT_NAMES = CONTENT_COLUMNS.join(', ');
export const CONTENT_TYPES = CONTENT_COLUMNS.map((name) => `${name} ${CONTENT[name].type}`).join(', ');
const CONTENT_CHANGES = CONTENT_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ');

/**
 * Writes a batch of games in one statement.
 *
 * New games enter as `pending`. Changed content moves a game to its next revision and back to `pending` without audit_time.
 * Equal content only refreshes the age of the detail, and addresses of the same identities. A detail that was requested
 * earlier than the stored one changes nothing. A withdrawn game is restored. A game keeps its latest `STORAGE.revisions`
 * revisions, and those that a decision names.
 *
 * With `keepsAges` no row is locked or written for the age of its detail alone.
 *
 * Rows are locked and written in the order of their ids, so that batches that share games do not deadlock. Each row is
 * looked up separately (`lateral`), because for a join, Postgres may read all games of the application, or all revisions.
 */
const writeGames = async (
  sql: Queryable,
  application_id: string,
  batch: readonly (FetchedGame | ComparedGame)[],
  keepsAges: boolean,
): Promise<WrittenGames> => {
  // A detail that was requested in the future is from before the clock of Postgres was set back.
  const isOlder = (than: Fragment) =>
    sql`(g.fetched_at < ${than} or g.fetched_at > now() + interval '1 minute')`;
  const games = batch.map((game) => ({ ...game, lexemes: gameLexemes(application_id, game) }));
  const rows = await sql<{ application_game_id: string; revision: number | null }[]>`
    with fetched as (
      select * from json_to_recordset(${JSON.stringify(games)}::text::json) as f(
        game_id uuid, application_game_id text, content_hash text, addresses_end_at timestamptz, list_hash text,
        fetched_at timestamptz, is_compared boolean, equal_hash text, lexemes text[], ${sql.unsafe(CONTENT_TYPES)})
      where not ${keepsAges} or not exists (
        select from (
          -- With another condition, a plan of when the table was empty may read all games of the application.
          select * from games where application_id = ${application_id} and application_game_id = f.application_game_id
          offset 0
        ) as g
        where g.content_hash = f.content_hash and f.list_hash in ('', g.list_hash) and g.withdrawn_at is null
          -- Addresses that tell no end may have other parameters now.
          and coalesce(g.addresses_end_at, f.addresses_end_at) is null and g.game_icon = f.game_icon
          and g.game_store_video = f.game_store_video and g.game_store_pic = f.game_store_pic)
    ), existing as materialized (
      select g.game_id, f.application_game_id, g.content_hash
      from (select application_game_id from fetched order by application_game_id) as f cross join lateral (
        select game_id, content_hash from games
        where application_id = ${application_id} and application_game_id = f.application_game_id
        for update
      ) as g
    ), changed as materialized (
      select f.application_game_id, e.game_id is not null and f.is_compared is null
               and split_part(e.content_hash, '.', 2) <> split_part(f.content_hash, '.', 2) as is_doubtful
      from fetched f left join existing e using (application_game_id)
      where e.content_hash is distinct from f.content_hash
        and (f.equal_hash is null or e.content_hash is distinct from f.equal_hash)
    ), refreshed as (
      update games g
      set fetched_at = f.fetched_at, withdrawn_at = null,
          list_hash = case when f.list_hash = '' then g.list_hash else f.list_hash end,
          content_hash = f.content_hash, addresses_end_at = f.addresses_end_at,
          -- Equal values stay as they are stored: a new one is compressed and moved out of line again.
          game_icon = case when g.game_icon = f.game_icon then g.game_icon else f.game_icon end,
          game_store_video = f.game_store_video,
          game_store_pic = case when g.game_store_pic = f.game_store_pic then g.game_store_pic else f.game_store_pic end
      from existing e join fetched f on f.application_game_id = e.application_game_id
                                    and e.content_hash in (f.content_hash, f.equal_hash)
      where g.game_id = e.game_id and g.content_hash = e.content_hash and ${isOlder(sql`f.fetched_at`)}
    ), written as (
      insert into games as g (
        game_id, application_id, application_game_id, content_hash, addresses_end_at, list_hash, fetched_at,
        search, ${sql.unsafe(CONTENT_NAMES)})
      select coalesce(
               (select i.game_id from imported_games i
                where i.application_id = ${application_id} and i.application_game_id = f.application_game_id),
               f.game_id), ${application_id}, f.application_game_id, f.content_hash, f.addresses_end_at, f.list_hash,
             f.fetched_at, array_to_tsvector(f.lexemes), ${sql.unsafe(CONTENT_NAMES)}
      from fetched f join changed using (application_game_id)
      where not is_doubtful
      order by f.application_game_id
      on conflict (application_id, application_game_id) do update
      set ${sql.unsafe(CONTENT_CHANGES)}, audit_status = 'pending', audit_time = null, revision = g.revision + 1,
          content_hash = excluded.content_hash, addresses_end_at = excluded.addresses_end_at,
          list_hash = excluded.list_hash, fetched_at = excluded.fetched_at, search = excluded.search,
          withdrawn_at = null, updated_at = now()
      where g.content_hash <> excluded.content_hash and ${isOlder(sql`excluded.fetched_at`)}
      returning g.*
    ), kept as (
      insert into game_revisions (game_id, revision, content_hash, fetched_at, ${sql.unsafe(CONTENT_NAMES)})
      select game_id, revision, content_hash, fetched_at, ${sql.unsafe(CONTENT_NAMES)} from written
    ), forgotten as (
      delete from game_revisions where ctid = any(array(
        select surplus.place from written w cross join lateral (
          select ctid as place from game_revisions r
          where r.game_id = w.game_id and r.revision <= w.revision - ${STORAGE.revisions}
            and not exists (select from game_audits d where d.game_id = r.game_id and d.revision = r.revision)
          limit ${STORAGE.revisions}
        ) as surplus))
        -- Decided once: a plan of when the table was empty reads it as a whole.
        and (select max(revision) from written) > ${STORAGE.revisions}
    )
    select application_game_id, revision from written
    union all select application_game_id, null from changed where is_doubtful`;
  const idsOf = (belongs: (revision: number | null) => boolean) =>
    rows.filter(({ revision }) => belongs(revision)).map((row) => row.application_game_id);
  return {
    inserted: idsOf((revision) => revision === 1),
    updated: idsOf((revision) => revision !== null && revision > 1),
    doubtful: idsOf((revision) => revision === null),
  };
};

/** Compares games with what is stored, by the rule of identities that their application has now. */
const compareGames = async (
  sql: Queryable,
  application_id: string,
  games: readonly FetchedGame[],
): Promise<ComparedGame[]> => {
  const rule = (await readIdentityRules(sql, [{ application_id }]))(application_id);
  const stored = await sql<(GameContent & { application_game_id: string; content_hash: string })[]>`
    select application_game_id, content_hash, ${sql.unsafe(CONTENT_NAMES)}
    from games where application_id = ${application_id}
      and application_game_id = any(${games.map((game) => game.application_game_id)}::text[])`;
  const before = new Map(stored.map((row) => [row.application_game_id, row]));
  return games.map((game) => {
    const content_hash = contentHash(game, rule);
    const row = before.get(game.application_game_id);
    const isEqual = row !== undefined && contentHash(row, rule) === content_hash;
    return { ...game, content_hash, is_compared: true, equal_hash: isEqual ? row.content_hash : null };
  });
};

/**
 * Writes a batch of games, in a transaction of the caller. Games whose stored hash is of another rule of identities are
 * compared field by field, so that a new rule changes no game.
 * @param keepsAges whether the application's row says how old details are: see `detailFetchedAt`
 * @returns the application_game_ids that were inserted and updated; the others are unchanged
 */
export const upsertGames = async (
  sql: Queryable,
  application_id: string,
  batch: readonly FetchedGame[],
  keepsAges = false,
): Promise<{ inserted: string[]; updated: string[] }> => {
  if (batch.length === 0) return { inserted: [], updated: [] };
  const { doubtful, ...written } = await writeGames(sql, application_id, batch, keepsAges);
  if (doubtful.length === 0) return written;
  const games = batch.filter((game) => doubtful.includes(game.application_game_id));
  const compared = await compareGames(sql, application_id, games);
  const { updated } = await writeGames(sql, application_id, compared, false);
  return { ...written, updated: [...written.updated, ...updated] };
};

/** Finds those of these games of an application that are stored. */
export const findStoredGames = async (
  sql: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<Set<string>> => {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${application_game_ids as string[]}::text[]) as id
    where exists (select from games where application_id = ${application_id} and application_game_id = id)`;
  return new Set(rows.map(({ id }) => id));
};

const GAME_COLUMNS = `game_id, application_id, application_game_id, ${CONTENT_NAMES}, game_package_url,
  audit_status, audit_time, revision, content_hash, addresses_end_at, list_hash, withdrawn_at, unlisted_at,
  created_at, updated_at`;

/** Selects games `g` as `GameRow`. `fetched_at` is the time since when the detail is known to be current. */
export const selectGames = (sql: Queryable) => sql`
  select ${sql.unsafe(GAME_COLUMNS)}, (
    select ${detailFetchedAt(sql)} from applications a where a.application_id = g.application_id) as fetched_at
  from games g`;

export const findGame = (sql: Queryable, game_id: string) =>
  firstRow(sql<GameRow[]>`${selectGames(sql)} where game_id = ${game_id}`);

export const listRevisions = (sql: Queryable, game_id: string): Promise<GameRevisionRow[]> =>
  sql<GameRevisionRow[]>`select * from game_revisions where game_id = ${game_id} order by revision desc`;

/** The numbers of a game's revisions, latest first. Together, the revisions of a game may take 50 MiB. */
export const listRevisionNumbers = (sql: Queryable, game_id: string) =>
  readColumn(sql<Pick<GameRevisionRow, 'revision'>[]>`
    select revision from game_revisions where game_id = ${game_id} order by revision desc`);

export const findRevision = (sql: Queryable, game_id: string, revision: number) =>
  firstRow(sql<GameRevisionRow[]>`
    select * from game_revisions where game_id = ${game_id} and revision = ${revision}`);

/** The last revision before this one that has a decision. */
export const findDecidedRevision = (sql: Queryable, game_id: string, before: number) =>
  readValue(sql<{ revision: number }[]>`
    select revision from game_audits
    where game_id = ${game_id} and revision < ${before} and undone_at is null order by revision desc limit 1`);

export const listAudits = (sql: Queryable, game_id: string): Promise<GameAuditRow[]> =>
  sql<GameAuditRow[]>`select * from game_audits where game_id = ${game_id} order by audit_id desc`;
