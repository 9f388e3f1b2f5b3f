import type { InferSelectModel } from 'drizzle-orm';
import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { firstRow, readColumn, readValue } from '#db/rows.ts';
import type { gameAudits, gameRevisions, games } from '#db/schema/games.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { CONTENT, CONTENT_COLUMNS, type GameContent } from '#src/rules/mapping.ts';

export type GameRow = InferSelectModel<typeof games>;
export type GameRevisionRow = InferSelectModel<typeof gameRevisions>;
export type GameAuditRow = InferSelectModel<typeof gameAudits>;

/** One game from a detail call, ready to be written. */
export type FetchedGame = GameContent & {
  /** The platform's `game_id` if the game is new. */
  game_id: string;
  application_game_id: string;
  content_hash: string;
  /** Hash of the list entry; "" when unknown (`pull`). */
  list_hash: string;
  fetched_at: Date;
};

/** The content columns in a statement: their names, their types, and an update to a newer content. */
const CONTENT_NAMES = CONTENT_COLUMNS.join(', ');
const CONTENT_TYPES = CONTENT_COLUMNS.map((name) => `${name} ${CONTENT[name].type}`).join(', ');
const CONTENT_CHANGES = CONTENT_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ');

/**
 * Write a batch of games in one statement.
 *
 * New games enter as `pending`. Changed content moves a game to its next revision and back to `pending` without
 * audit_time. Equal content only refreshes the age of the detail. A detail that was
 * requested earlier than the stored one changes nothing. A withdrawn game is restored. A game keeps its latest
 * `STORAGE.revisions` revisions, and those that a decision names.
 *
 * Rows are locked and written in the order of their ids, so that batches that share games do not deadlock. Each row is
 * looked up separately (`lateral`): for a join, Postgres may read all games of the application, or all revisions.
 * @returns the application_game_ids that were inserted and updated; the others are unchanged
 */
export const upsertGames = async (
  sql: Queryable,
  application_id: string,
  batch: readonly FetchedGame[],
): Promise<{ inserted: string[]; updated: string[] }> => {
  if (batch.length === 0) return { inserted: [], updated: [] };
  // A detail that was requested in the future is from before the clock of Postgres was set back.
  const isOlder = (than: Fragment) =>
    sql`(g.fetched_at < ${than} or g.fetched_at > now() + interval '1 minute')`;
  const rows = await sql<{ application_game_id: string; revision: number }[]>`
    with fetched as (
      select * from json_to_recordset(${JSON.stringify(batch)}::text::json) as f(
        game_id uuid, application_game_id text, content_hash text, list_hash text, fetched_at timestamptz,
        ${sql.unsafe(CONTENT_TYPES)})
    ), existing as materialized (
      select g.game_id, f.application_game_id, g.content_hash
      from (select application_game_id from fetched order by application_game_id) as f cross join lateral (
        select game_id, content_hash from games
        where application_id = ${application_id} and application_game_id = f.application_game_id
        for update
      ) as g
    ), refreshed as (
      update games g
      set fetched_at = f.fetched_at, withdrawn_at = null,
          list_hash = case when f.list_hash = '' then g.list_hash else f.list_hash end
      from existing e join fetched f on f.application_game_id = e.application_game_id and f.content_hash = e.content_hash
      where g.game_id = e.game_id and g.content_hash = f.content_hash and ${isOlder(sql`f.fetched_at`)}
    ), written as (
      insert into games as g (
        game_id, application_id, application_game_id, content_hash, list_hash, fetched_at,
        ${sql.unsafe(CONTENT_NAMES)})
      select f.game_id, ${application_id}, f.application_game_id, f.content_hash, f.list_hash, f.fetched_at,
             ${sql.unsafe(CONTENT_NAMES)}
      from fetched f left join existing e on e.application_game_id = f.application_game_id
      where e.content_hash is distinct from f.content_hash
      order by f.application_game_id
      on conflict (application_id, application_game_id) do update
      set ${sql.unsafe(CONTENT_CHANGES)}, audit_status = 'pending', audit_time = null, revision = g.revision + 1,
          content_hash = excluded.content_hash, list_hash = excluded.list_hash,
          fetched_at = excluded.fetched_at, withdrawn_at = null, updated_at = now()
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
    )
    select application_game_id, revision from written`;
  const inserted = rows.filter((row) => row.revision === 1).map((row) => row.application_game_id);
  const updated = rows.filter((row) => row.revision > 1).map((row) => row.application_game_id);
  return { inserted, updated };
};

/** Which of these games of an application are stored. */
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

export const findGame = (sql: Queryable, game_id: string) =>
  firstRow(sql<GameRow[]>`select * from games where game_id = ${game_id}`);

export const listRevisions = (sql: Queryable, game_id: string): Promise<GameRevisionRow[]> =>
  sql<GameRevisionRow[]>`select * from game_revisions where game_id = ${game_id} order by revision desc`;

/** The numbers of a game's revisions, latest first. All revisions of a game may have 50 MiB. */
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
