import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { listHeldApplications } from '#db/queries/holds.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import { onlyRow, onlyValue, readValue } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import type { Decision, Lane } from '#src/contract/words.ts';

/** What both lanes are filtered by. */
export type LaneFilter = {
  application_id?: string | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
};

export type LaneGame = Pick<
  GameRow,
  'game_id' | 'application_id' | 'application_game_id' | 'game_name' | 'game_icon' | 'revision'
> & {
  application_name: string;
  /** When the game entered the lane. */
  since: Date;
  /** The last decision and its revision; null in the new lane. */
  decided_status: Decision | null;
  decided_revision: number | null;
};

export const LANE_SORTS = ['since'] as const;
type LanePage = ListPage<(typeof LANE_SORTS)[number]>;

/** Names that one page compares with a text. A rare text then takes several pages. */
export const LANE_NAMES_COMPARED = 4_000;

/** `last_…`: where the scan ended, after `scanned` games. */
type ScannedGame = LaneGame & { last_id: string | null; last_since: Date | null; scanned: number };

/** The place of a game in the order of its lane. */
export const placeInLane = (
  lane: Lane,
  { game_id, since }: Pick<LaneGame, 'game_id' | 'since'>,
): readonly [value: string, id: string] => [lane === 'new' ? game_id : since.toISOString(), game_id];

/** `held`: applications whose games are in no lane. Without one, the scan needs no column beside those of its index. */
type Scanned = { application_id: string | undefined; held: string[] };

/**
 * The games of the new lane, which wait for their first decision, in the order in which they were first seen. The index
 * of `game.listByAuditStatus` has them: its array comparison is explained there (db/queries/api-games.ts).
 */
const scanNew = (sql: Queryable, { application_id, held }: Scanned, { after, descending }: LanePage) => {
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  const [lead, index] =
    application_id === undefined
      ? [sql`audit_status`, sql`audit_status = any (array['pending'])`]
      : [
          sql`application_id`,
          sql`application_id = any (array[${application_id}]) and audit_status = 'pending'`,
        ];
  return sql`
    select g.game_id, g.game_name, null::timestamptz as since, null::int as decided_revision from games g
    ${where(sql, [
      index,
      sql`withdrawn_at is null`,
      held.length > 0 && sql`g.application_id <> all(${held}::text[])`,
      after && sql`game_id ${compare} ${after[1]}`,
      sql`not exists (select from changed_games c where c.game_id = g.game_id)`,
    ])}
    order by ${lead} ${direction}, game_id ${direction}`;
};

/** The games of the changed lane, which changed after a decision, in the order in which they changed. */
const scanChanged = (sql: Queryable, { application_id, held }: Scanned, { after, descending }: LanePage) => {
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  return sql`
    select c.game_id, null as game_name, c.since, c.decided_revision from changed_games c
    ${where(sql, [
      application_id !== undefined && sql`c.application_id = ${application_id}`,
      held.length > 0 && sql`c.application_id <> all(${held}::text[])`,
      after && sql`(c.since, c.game_id) ${compare} (${after[0]}, ${after[1]})`,
    ])}
    order by c.since ${direction}, c.game_id ${direction}`;
};

/** Reads one page of a lane. With a text, a page may end before it is full. */
export const listLanePage = async (
  sql: Queryable,
  { lane, application_id, search }: LaneFilter & { lane: Lane },
  page: LanePage,
): Promise<Listed<LaneGame>> => {
  const { limit, descending, uncounted = false } = page;
  const direction = descending ? sql`desc` : sql`asc`;
  // One game more than the page shows whether there is a next page.
  const scanMax = search === undefined ? limit + 1 : LANE_NAMES_COMPARED;
  const scan = lane === 'new' ? scanNew : scanChanged;
  const held = await listHeldApplications(sql);
  const names = lane === 'new' ? sql`` : sql`join games g using (game_id)`;
  const named =
    search === undefined
      ? sql``
      : sql`${names} where ${contains(sql, search, [lane === 'new' ? 's.game_name' : 'g.game_name'])}`;
  const read = await sql<ScannedGame[]>`
    with scanned as materialized (
      ${scan(sql, { application_id, held }, page)} limit ${scanMax}
    ), found as (
      select s.* from scanned s ${named}
      order by s.since ${direction}, s.game_id ${direction} limit ${limit + 1}
    ), ending as (
      select (select count(*)::int from scanned) as scanned, last.game_id as last_id, last.since as last_since
      from (select 1) one left join (
        select * from scanned
        order by since ${descending ? sql`asc` : sql`desc`}, game_id ${descending ? sql`asc` : sql`desc`} limit 1
      ) last on true
    )
    select g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.revision,
           a.name as application_name, coalesce(found.since, g.created_at) as since, found.decided_revision,
           decided.audit_status as decided_status, ending.scanned, ending.last_id, ending.last_since
    from ending left join (
      found join games g using (game_id) join applications a using (application_id)
      left join lateral standing_decision(case when found.decided_revision is not null then g.game_id end) decided
        on true
    ) on true
    order by found.since ${direction}, g.game_id ${direction}`;
  const found = read
    .filter((row) => row.game_id !== null)
    .map(({ last_id: _id, last_since: _since, scanned: _scanned, ...game }): LaneGame => game);
  const rows = found.slice(0, limit);
  const [end] = read;
  const cut =
    search !== undefined && end?.scanned === scanMax && end.last_id !== null
      ? { game_id: end.last_id, since: end.last_since ?? new Date(0) }
      : undefined;
  const last = found.length > limit ? rows.at(-1) : cut;
  return {
    rows,
    total: uncounted || search !== undefined ? null : (await countLanes(sql, application_id))[lane],
    next: last && placeInLane(lane, last),
  };
};

type LaneContent = Pick<GameRow, 'game_icon' | 'game_store_pic' | 'game_store_video'>;

/** The decided and the present content of games of the changed lane. Postgres compares the texts, which may be long. */
export const listLaneContents = (sql: Queryable, games: readonly LaneGame[]) =>
  sql<
    (Pick<LaneGame, 'game_id' | 'application_id'> & {
      name: boolean;
      description: boolean;
      before: LaneContent;
      after: LaneContent;
    })[]
  >`
    select g.game_id, g.application_id, r.game_name <> g.game_name as name, r.game_desc <> g.game_desc as description,
           jsonb_build_object('game_icon', r.game_icon, 'game_store_pic', r.game_store_pic,
                              'game_store_video', r.game_store_video) as before,
           jsonb_build_object('game_icon', g.game_icon, 'game_store_pic', g.game_store_pic,
                              'game_store_video', g.game_store_video) as after
    from unnest(${games.map(({ game_id }) => game_id)}::uuid[],
                ${games.map(({ decided_revision }) => decided_revision)}::int[]) as decided (game_id, revision)
    join game_revisions r using (game_id, revision) join games g using (game_id)`;

export type LaneCounts = { new: number; changed: number };

/** Counts both lanes, of all applications or one, from the counters of `data.total` and the table of changed games. */
export const countLanes = (sql: Queryable, application_id?: string): Promise<LaneCounts> => {
  const ofScope = application_id === undefined ? sql`` : sql`and application_id = ${application_id}`;
  return onlyRow(sql<LaneCounts[]>`
    select (pending - pending_held - changed)::int as new, changed::int as changed from (
      select (select coalesce(sum(games), 0) from game_totals(${application_id ?? ''})
              where audit_status = 'pending') as pending,
             (select coalesce(sum(games), 0) from application_holds, game_totals(application_id)
              where audit_status = 'pending' ${ofScope}) as pending_held,
             (select count(*) from changed_games c
              where not exists (select from application_holds h where h.application_id = c.application_id)
                ${ofScope}) as changed
    ) as counted`);
};

/**
 * Counts the games of the new lane before a game, of all applications. Uses the counters for whole intervals of 128 ms
 * before the game, and the index for the rest of its interval.
 */
export const countBeforeInNewLane = (sql: Queryable, game_id: string): Promise<number> =>
  onlyValue(sql<{ before: number }[]>`
    with place as (select game_bucket(${game_id}) as leaf)
    select (
      (select coalesce(sum(counted.upto[node.child]), 0) from place
       cross join lateral (
         select level::smallint, leaf >> (35 - 7 * level) as bucket, (leaf >> (28 - 7 * level) & 127)::int as child
         from generate_series(0, 4) as levels (level)
       ) as node
       join game_counts counted on counted.application_id = '' and counted.audit_status = 'pending'
         and counted.level = node.level and counted.bucket = node.bucket
       where node.child > 0)
      + (select coalesce(sum(games), 0) from game_count_changes, place
         where audit_status = 'pending' and bucket < leaf)
      + (select count(*) from games, place
         where audit_status = any (array['pending']) and withdrawn_at is null and game_id < ${game_id}
           and game_id >= (lpad(to_hex(leaf << 7), 12, '0') || repeat('0', 20))::uuid)
      - (select count(*) from changed_games where game_id < ${game_id})
      - (select count(*) from application_holds h join games g using (application_id)
         where g.audit_status = 'pending' and g.withdrawn_at is null and g.game_id < ${game_id}
           and not exists (select from changed_games c where c.game_id = g.game_id))
    )::int as before`);

/** Counts the games of the changed lane before a place. */
export const countBeforeInChangedLane = (
  sql: Queryable,
  place: Pick<LaneGame, 'game_id' | 'since'>,
): Promise<number> =>
  onlyValue(sql<{ before: number }[]>`
    select count(*)::int as before from changed_games c
    where (since, game_id) < (${place.since}, ${place.game_id})
      and not exists (select from application_holds h where h.application_id = c.application_id)`);

/** When a game entered the changed lane. @returns undefined when it is not in that lane */
export const findChangedSince = (sql: Queryable, game_id: string): Promise<Date | undefined> =>
  readValue(sql<{ since: Date }[]>`select since from changed_games where game_id = ${game_id}`);

/** Decisions that the median wait is taken from. */
const RECENT_DECISIONS = 500;

/** How long games waited before the latest decisions, in milliseconds: the median. Null before the first decision. */
export const readMedianWaitMs = (sql: Queryable): Promise<number | null> =>
  onlyValue(sql<{ median: number | null }[]>`
    select extract(epoch from percentile_cont(0.5) within group (order by decided_at - waiting_since))::float8 * 1000
             as median
    from (
      select decided_at, waiting_since from game_audits
      where waiting_since is not null and undone_at is null
      order by audit_id desc limit ${RECENT_DECISIONS}
    ) as recent`);
