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

/** Up to here a page is found by stepping over the index entries before it; beyond, by the counters. */
const STEP_OVER_MAX = 500;

/** Bits of a `game_id` that a bucket of each level holds in common: see db/schema/game-counts.ts. */
const LEVEL_BITS = [0, 14, 20, 26, 32, 38] as const;
const FINEST_BITS = 38;
/** An application's tree ends one level before everybody's. */
const lastLevel = (scope: Scope): number => (scope === null ? 5 : 4);

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
  const mine = scope === null ? sql`` : sql`and application_id = ${scope}`;
  const near = skip <= STEP_OVER_MAX;
  const rows = await sql<(CatalogueSummary & { total: number })[]>`
    with changes as materialized (
      select bucket, games from game_count_changes where audit_status = ${audit_status} ${mine}
    ), whole as materialized (
      select (coalesce((select sum(games) from changes), 0) + coalesce((
        select games from game_counts
        where application_id = ${scope ?? ''} and audit_status = ${audit_status} and level = 0
      ), 0))::float8 as total
    ) ${near ? sql`` : descent(sql, scope, audit_status, skip)}
    select whole.total, page.*
    from whole left join lateral (
      select game_id, game_name, audit_status, audit_time from games
      where audit_status = ${audit_status} ${mine} and withdrawn_at is null
        ${near ? sql`` : sql`and game_id >= (select start from leaf)`}
      order by game_id
      limit ${page.page_size} offset ${near ? sql`${skip}` : sql`(select skip from leaf)`}
    ) page on true`;
  return { total: rows[0]?.total ?? 0, list: rows.filter((row) => row.game_id !== null) };
};

/**
 * From the whole down to the smallest bucket that holds the row after `skip`: at each level the buckets below
 * the chosen one, added up until they pass what is left to skip. Ends in `leaf`: the first id of that bucket
 * and how many of its rows to step over. Empty past the end.
 */
const descent = (sql: Queryable, scope: Scope, audit_status: AuditStatus, skip: number) => {
  const last = lastLevel(scope);
  return sql`
    , level_0 as (select 0::bigint as bucket, ${skip}::numeric as skip)
    ${LEVEL_BITS.slice(1, last + 1).map((_, above) => oneLevelDown(sql, scope, audit_status, above))}
    , leaf as materialized (
      select (lpad(to_hex(bucket << ${40 - (LEVEL_BITS[last] ?? 0)}), 10, '0') || repeat('0', 22))::uuid as start,
             skip::bigint as skip
      from ${sql(`level_${last}`)}
    )`;
};

const oneLevelDown = (sql: Queryable, scope: Scope, audit_status: AuditStatus, above: number) => {
  const level = above + 1;
  const bits = LEVEL_BITS[level] ?? 0;
  const shift = bits - (LEVEL_BITS[above] ?? 0);
  return sql`
    , ${sql(`level_${level}`)} as materialized (
      select summed.bucket, above.skip - (summed.upto - summed.games) as skip
      from ${sql(`level_${above}`)} above, lateral (
        select bucket, sum(games) as games, sum(sum(games)) over (order by bucket) as upto
        from (
          select bucket, games from game_counts
          where application_id = ${scope ?? ''} and audit_status = ${audit_status} and level = ${level}
            and bucket >= above.bucket << ${shift} and bucket < (above.bucket + 1) << ${shift}
          union all
          select bucket >> ${FINEST_BITS - bits}, games from changes
          where bucket >> ${FINEST_BITS - bits + shift} = above.bucket
        ) below
        group by bucket
      ) summed
      where summed.upto > above.skip
      order by summed.bucket limit 1
    )`;
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
