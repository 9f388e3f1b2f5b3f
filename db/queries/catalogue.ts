import type { Database, Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { AuditStatus } from '#db/schema/games.ts';

/** Whose games are read: one application's, or with `null` everybody's (design, section 5, decision 8). */
export type Scope = string | null;

export type CatalogueSummary = Pick<GameRow, 'game_id' | 'game_name' | 'audit_status' | 'audit_time'>;
export type CatalogueDetail = Pick<
  GameRow,
  | 'game_id'
  | 'game_name'
  | 'game_icon'
  | 'game_desc'
  | 'game_package_url'
  | 'game_store_video'
  | 'game_store_pic'
  | 'audit_status'
>;
export type CataloguePage = { total: number; list: CatalogueSummary[] };

/**
 * One page of the games of one audit_status, by `game_id` ascending (decision 6), and how many there are: both
 * of one moment, for they are read by one statement. Withdrawn games are not in the catalogue.
 * @param page counts from 1
 */
export const selectCataloguePage = async (
  sql: Queryable,
  scope: Scope,
  audit_status: AuditStatus,
  page: { page_num: number; page_size: number },
): Promise<CataloguePage> => {
  const skip = (page.page_num - 1) * page.page_size;
  const rows = await sql<(CatalogueSummary & { total: number })[]>`
    select total::float8, game_id, game_name, audit_status, audit_time
    from list_games(${scope ?? ''}, ${audit_status}, ${skip}, ${page.page_size})`;
  return { total: rows[0]?.total ?? 0, list: rows.filter((row) => row.game_id !== null) };
};

/**
 * One game in full; undefined where there is none in this scope. An id that is no UUID is looked for like any
 * other, so that neither the answer nor the time it takes tells one kind of absence from another.
 */
export const selectCatalogueDetail = async (
  sql: Queryable,
  scope: Scope,
  game_id: string,
): Promise<CatalogueDetail | undefined> => {
  const rows = await sql<CatalogueDetail[]>`
    select game_id, game_name, game_icon, game_desc, game_package_url, game_store_video, game_store_pic, audit_status
    from games
    where game_id = ${UUID.test(game_id) ? game_id : NIL_UUID} and withdrawn_at is null
      ${scope === null ? sql`` : sql`and application_id = ${scope}`}`;
  return rows[0];
};

/** As we write them: canonical, lower case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Counters of one application ("" for all together) that do not agree with its games. */
export type CounterDrift = {
  application_id: string;
  audit_status: AuditStatus;
  /** What the total lacks: games there are, less games counted. */
  games_off: number;
  /** How many counters are off, buckets included. */
  counters_off: number;
};

/**
 * Compare the counters with the games, and with `repair` put them right. Reads every game; nothing has to
 * stop for it. @returns what was off, empty when all agrees
 */
export const recountGames = (sql: Database, options: { repair: boolean }): Promise<CounterDrift[]> =>
  sql<CounterDrift[]>`
    select off_application_id as application_id, off_audit_status as audit_status,
           games_off::float8, counters_off::float8
    from recount_games(${options.repair})`;
