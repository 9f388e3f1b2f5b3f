import type { Database, Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { AuditStatus } from '#src/contract/words.ts';

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
/** Where a row is found: so many rows behind this `game_id`. */
export type Place = { start: string; ahead: number };
/** A page of somebody's games in one audit_status. `page_num` counts from 1. */
export type PageAsked = { scope: Scope; audit_status: AuditStatus; page_num: number; page_size: number };
export type CataloguePage = {
  total: number;
  list: CatalogueSummary[];
  /** Of all games of this scope and audit_status: while it is the same, so are they and their order. */
  state: string;
};

/**
 * How many games of a scope and audit_status there are, and the state they are in: the row at the root of the counters
 * and how many changes wait to be folded into them. Folding writes that row anew (db/triggers/game-counts.sql), and
 * until then changes only come. And when the server was started: one that was restored, or took over, may count its
 * transactions from an earlier one.
 */
const WHOLE = `
  select coalesce(root.games, 0) + coalesce(waiting.games, 0) as total,
         coalesce(root.xmin::text, '') || ' ' || waiting.changes || ' ' || pg_postmaster_start_time() as state
  from (
    select sum(games)::bigint as games, count(*) as changes from game_count_changes
    where audit_status = asked.status and asked.scope in ('', application_id)
  ) as waiting
  left join game_counts root on root.application_id = asked.scope and root.audit_status = asked.status and root.level = 0`;

/**
 * Pages, each of a scope ("" for everybody) and audit_status ($1, $2), at a place and of so many rows ($3, $4, $5);
 * without a start it is looked up behind so many rows. And of those that $6 names the whole. One statement, so all of
 * it is read in one snapshot. Written out once: putting it together on each call costs a tenth of the call.
 *
 * What the games are looked up by first is an array of one: then the order asked for is that of the index we have
 * for it. Held to be a constant it would fall out of the order, and Postgres may read the primary key instead, past
 * all games of another status.
 */
const PAGES = `
  select nth, whole.*, null::uuid as game_id, null as game_name, null::timestamptz as audit_time
  from unnest($6::integer[]) as nth
  cross join lateral (select ($1::text[])[nth] as scope, ($2::text[])[nth] as status offset 0) as asked
  cross join lateral (${WHOLE}) as whole
  union all
  select nth, null, null, page.*
  from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::integer[]) with ordinality
    as asked (scope, status, start, ahead, page_size, nth)
  cross join lateral (
    select asked.start, asked.ahead where asked.start is not null
    union all
    select found.* from place_of_game(asked.scope, asked.status, asked.ahead) as found where asked.start is null
  ) as place
  cross join lateral (
    (select game_id, game_name, audit_time from games
     where asked.scope = '' and audit_status = any (array[asked.status])
       and withdrawn_at is null and game_id >= place.start
     order by audit_status, game_id limit asked.page_size offset place.ahead)
    union all
    (select game_id, game_name, audit_time from games
     where asked.scope <> '' and application_id = any (array[asked.scope]) and audit_status = asked.status
       and withdrawn_at is null and game_id >= place.start
     order by application_id, game_id limit asked.page_size offset place.ahead)
  ) as page`;

/** How many rows of its list lie before a page. */
export const rowsBefore = ({ page_num, page_size }: PageAsked): number => (page_num - 1) * page_size;

/** What pages have in common that are of the same games. */
export const listOf = ({ scope, audit_status }: PageAsked): string => `${audit_status} ${scope ?? ''}`;

/**
 * Pages of games, by `game_id` ascending (decision 6), and how many there are: all of one moment. Withdrawn games are
 * not in the catalogue. Ten pages cost Postgres half of what they do one by one. Fast on a pool that plans each
 * statement once.
 * @param asked with the place where a page begins, for who knows: right as long as `state` is that of the games it was
 *   known from
 * @returns the pages in the order asked for
 */
export const selectCataloguePages = async (
  sql: Queryable,
  asked: readonly (PageAsked & { place?: Place | undefined })[],
): Promise<CataloguePage[]> => {
  const lists = asked.map(listOf);
  const oneOf = new Map(lists.map((list, index) => [list, index + 1]));
  const rows = await sql.unsafe<(CatalogueSummary & { nth: number; total: number | null; state: string })[]>(
    PAGES,
    [
      asked.map((page) => page.scope ?? ''),
      asked.map((page) => page.audit_status),
      asked.map((page) => page.place?.start ?? null),
      asked.map((page) => page.place?.ahead ?? rowsBefore(page)),
      asked.map((page) => page.page_size),
      [...oneOf.values()],
    ],
    { prepare: true },
  );
  const wholes = new Map<number, { total: number; state: string }>();
  const pages = asked.map((): CatalogueSummary[] => []);
  for (const row of rows) {
    if (row.total !== null) wholes.set(row.nth, { total: row.total, state: row.state });
    else pages[row.nth - 1]?.push(row);
  }
  return pages.map((list, index) => {
    const whole = wholes.get(oneOf.get(lists[index] ?? '') ?? 0);
    if (whole === undefined) throw new Error('an aggregate without a group always has one row');
    return { ...whole, list };
  });
};

/** A node of the counters of a scope and audit_status (db/schema/game-counts.ts). */
export type CounterNode = { level: number; bucket: number; upto: number[] };
export type Counters = {
  /** As in `CataloguePage`. */
  state: string;
  /** Those of more games than were asked for, from the whole down, up to so many. */
  nodes: CounterNode[];
  /** Changes that are not in the nodes yet: games that came (or, negative, went) in a bucket of 128 milliseconds. */
  waiting: { bucket: number; games: number }[];
};

/**
 * The counters of a scope and audit_status, as of one moment: the nodes of more than so many games. From the whole down,
 * for a list may have a node for every sixteen seconds of years.
 */
export const selectCounters = async (
  sql: Queryable,
  { scope, audit_status }: Pick<PageAsked, 'scope' | 'audit_status'>,
  { gamesOver, most }: { gamesOver: number; most: number },
): Promise<Counters> => {
  type Row = { state: string | null; level: number | null; bucket: number; upto: number[]; games: number };
  const rows = await sql.unsafe<Row[]>(
    `
    with recursive node (level, bucket, upto, games) as (
      select level, bucket, upto, games from game_counts
      where application_id = $1 and audit_status = $2 and level = 0 and games > $3
      union all
      select child.* from node
      cross join lateral unnest(upto) with ordinality as part (ending, nth)
      cross join lateral (
        select level, bucket, upto, games from game_counts
        where application_id = $1 and audit_status = $2 and level = node.level + 1
          and bucket = node.bucket * 128 + part.nth - 1
        limit 1
      ) as child
      where part.ending - coalesce(node.upto[part.nth - 1], 0) > $3
    )
    select state, null::smallint as level, null::bigint as bucket, null::json as upto, null::bigint as games
    from (select $1 as scope, $2 as status) as asked cross join lateral (${WHOLE}) as whole
    union all
    select null, * from (select level, bucket, to_json(upto), games from node limit $4) as known
    union all
    select null, null, bucket, null, games from game_count_changes
    where audit_status = $2 and $1 in ('', application_id)`,
    [scope ?? '', audit_status, gamesOver, most],
    { prepare: true },
  );
  const counters: Counters = { state: '', nodes: [], waiting: [] };
  for (const { state, level, bucket, upto, games } of rows) {
    if (state !== null) counters.state = state;
    else if (level !== null) counters.nodes.push({ level, bucket, upto });
    else counters.waiting.push({ bucket, games });
  }
  return counters;
};

/** A game that is asked for in full, of those that are in this scope. */
export type DetailAsked = { scope: Scope; game_id: string };

/**
 * Games in full, in the order asked for; undefined where there is none in this scope. An id that is no UUID is looked
 * for like any other, so that neither the answer nor the time it takes tells one kind of absence from another.
 */
export const selectCatalogueDetails = async (
  sql: Queryable,
  asked: readonly DetailAsked[],
): Promise<(CatalogueDetail | undefined)[]> => {
  const rows = await sql<(CatalogueDetail & { nth: number })[]>`
    select nth, game.*
    from unnest(
      ${asked.map(({ scope }) => scope)}::text[],
      ${asked.map(({ game_id }) => (UUID.test(game_id) ? game_id : NIL_UUID))}::uuid[]
    ) with ordinality as asked (scope, game_id, nth)
    cross join lateral (
      select game_id, game_name, game_icon, game_desc, game_package_url, game_store_video, game_store_pic, audit_status
      from games
      where game_id = asked.game_id and withdrawn_at is null
        and (asked.scope is null or application_id = asked.scope)
      limit 1
    ) as game`;
  const games: (CatalogueDetail | undefined)[] = asked.map(() => undefined);
  for (const { nth, ...game } of rows) games[nth - 1] = game;
  return games;
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
