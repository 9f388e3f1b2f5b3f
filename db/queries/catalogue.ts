import type { Database, Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { AuditStatus } from '#db/schema/games.ts';

/** Whose games are read: one application's, or with `null` everybody's (design, section 5, decision 8). */
export type Scope = string | null;

export type CatalogueSummary = Pick<GameRow, 'game_id' | 'game_name' | 'audit_time'>;
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

/** So many rows are stepped over sooner than the place behind them is looked up. */
const STEPPED_OVER = 100;
const FROM_THE_FIRST = "(values ('00000000-0000-0000-0000-000000000000'::uuid, $3::bigint))";
const FROM_ITS_PLACE = 'place_of_game($1, $2, $3)';

/**
 * The page of a scope ($1, "" for everybody), audit_status ($2), rows to skip ($3) and page_size ($4): one statement,
 * so all of it is read in one snapshot. Written out once: putting it together on each call costs a tenth of the call.
 *
 * What the games are looked up by first is an array of one: then the order asked for is that of the index we have
 * for it. Held to be a constant it would fall out of the order, and Postgres may read the primary key instead, past
 * all games of another status.
 */
const pageStatement = (from: string, scope: 'all' | 'application'): string => {
  const [first, mine, counted] =
    scope === 'all'
      ? ['audit_status', 'audit_status = any (array[$2])', 'audit_status = $2']
      : [
          'application_id',
          'application_id = any (array[$1]) and audit_status = $2',
          'application_id = $1 and audit_status = $2',
        ];
  return `
    select whole.total, page.* from ${from} as place (start, ahead) cross join (
      select coalesce((select games from game_counts where application_id = $1 and audit_status = $2 and level = 0), 0)
        + coalesce((select sum(games)::bigint from game_count_changes where ${counted}), 0) as total
    ) as whole
    left join lateral (
      select game_id, game_name, audit_time from games
      where ${mine} and withdrawn_at is null and game_id >= place.start
      order by ${first}, game_id limit $4 offset place.ahead
    ) as page on true`;
};

const PAGE = {
  all: { near: pageStatement(FROM_THE_FIRST, 'all'), far: pageStatement(FROM_ITS_PLACE, 'all') },
  application: {
    near: pageStatement(FROM_THE_FIRST, 'application'),
    far: pageStatement(FROM_ITS_PLACE, 'application'),
  },
};

/**
 * One page of the games of one audit_status, by `game_id` ascending (decision 6), and how many there are: both
 * of one moment. Withdrawn games are not in the catalogue. Fast on a pool that plans each statement once.
 * @param page counts from 1
 */
export const selectCataloguePage = async (
  sql: Queryable,
  scope: Scope,
  audit_status: AuditStatus,
  page: { page_num: number; page_size: number },
): Promise<CataloguePage> => {
  const skip = (page.page_num - 1) * page.page_size;
  const statement = PAGE[scope === null ? 'all' : 'application'][skip > STEPPED_OVER ? 'far' : 'near'];
  const rows = await sql.unsafe<(CatalogueSummary & { total: number })[]>(
    statement,
    [scope ?? '', audit_status, skip, page.page_size],
    { prepare: true },
  );
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
      and (${scope}::text is null or application_id = ${scope})`;
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
