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
/** Where a page begins: so many rows behind this `game_id`. */
export type PagePlace = { start: string; ahead: number };
export type CataloguePage = {
  total: number;
  list: CatalogueSummary[];
  /** Of all games of this scope and audit_status: while it is the same, so are they and their order. */
  state: string;
};

const FIRST = '00000000-0000-0000-0000-000000000000';
/** So many rows are stepped over sooner than the place behind them is looked up. */
const STEPPED_OVER = 100;
const GIVEN = '(values ($4::uuid, $5::bigint))';
const LOOKED_UP = 'place_of_game($1, $2, $4)';

/**
 * The page of a scope ($1, "" for everybody), audit_status ($2) and page_size ($3), at a place that is given or behind
 * so many rows: one statement, so all of it is read in one snapshot. Written out once: putting it together on each
 * call costs a tenth of the call.
 *
 * What the games are looked up by first is an array of one: then the order asked for is that of the index we have
 * for it. Held to be a constant it would fall out of the order, and Postgres may read the primary key instead, past
 * all games of another status.
 *
 * The state is the row at the root of the counters and how many changes wait to be folded into them: folding writes
 * that row anew (db/triggers/game-counts.sql), and until then changes only come. And when the server was started: one
 * that was restored, or took over, may count its transactions from an earlier one.
 */
const pageStatement = (place: string, scope: 'all' | 'application'): string => {
  const [first, mine, counted] =
    scope === 'all'
      ? ['audit_status', 'audit_status = any (array[$2])', 'audit_status = $2']
      : [
          'application_id',
          'application_id = any (array[$1]) and audit_status = $2',
          'application_id = $1 and audit_status = $2',
        ];
  return `
    select coalesce(root.games, 0) + coalesce(waiting.games, 0) as total,
           coalesce(root.xmin::text, '') || ' ' || waiting.changes || ' ' || pg_postmaster_start_time() as state,
           null::uuid as game_id, null as game_name, null::timestamptz as audit_time
    from (
      select sum(games)::bigint as games, count(*) as changes from game_count_changes where ${counted}
    ) as waiting
    left join game_counts root on root.application_id = $1 and root.audit_status = $2 and root.level = 0
    union all
    select null, null, page.* from ${place} as place (start, ahead) cross join lateral (
      select game_id, game_name, audit_time from games
      where ${mine} and withdrawn_at is null and game_id >= place.start
      order by ${first}, game_id limit $3 offset place.ahead
    ) as page`;
};

const PAGE = {
  all: { given: pageStatement(GIVEN, 'all'), lookedUp: pageStatement(LOOKED_UP, 'all') },
  application: {
    given: pageStatement(GIVEN, 'application'),
    lookedUp: pageStatement(LOOKED_UP, 'application'),
  },
};

/**
 * One page of the games of one audit_status, by `game_id` ascending (decision 6), and how many there are: both
 * of one moment. Withdrawn games are not in the catalogue. Fast on a pool that plans each statement once.
 * @param page counts from 1
 * @param place where the page begins, for who knows: right as long as `state` is that of the page it was known from
 */
export const selectCataloguePage = async (
  sql: Queryable,
  scope: Scope,
  audit_status: AuditStatus,
  { page_num, page_size }: { page_num: number; page_size: number },
  place?: PagePlace,
): Promise<CataloguePage> => {
  const skip = (page_num - 1) * page_size;
  const { given, lookedUp } = PAGE[scope === null ? 'all' : 'application'];
  const from = place ?? (skip > STEPPED_OVER ? undefined : { start: FIRST, ahead: skip });
  const asked = [scope ?? '', audit_status, page_size];
  const rows = await sql.unsafe<(CatalogueSummary & { total: number; state: string })[]>(
    from === undefined ? lookedUp : given,
    from === undefined ? [...asked, skip] : [...asked, from.start, from.ahead],
    { prepare: true },
  );
  // One row is of all games, the others are the page's.
  const whole = rows.find((row) => row.game_id === null);
  if (whole === undefined) throw new Error('an aggregate without a group always has one row');
  return { total: whole.total, state: whole.state, list: rows.filter((row) => row !== whole) };
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
