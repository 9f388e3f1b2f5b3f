import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { countLanes } from '#db/queries/lane-counts.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import { contains, where } from '#db/where.ts';
import type { Decision, Lane } from '#src/contract/words.ts';

/** The filter of both lanes. */
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
  /** When it should be decided: after the target of its application's priority. */
  due: Date;
  /** The last decision and its revision; null in the new lane. */
  decided_status: Decision | null;
  decided_revision: number | null;
};

export const LANE_SORTS = ['due'] as const;
type LanePage = ListPage<(typeof LANE_SORTS)[number]>;

/** Names that one page compares with a text. A rare text then takes several pages. */
export const LANE_NAMES_COMPARED = 4_000;

/** `last_…`: where the scan ended, if it ended before the lane did. Without a game if the scan found none. */
type ScannedGame = (LaneGame | { game_id: null }) & { last_id: string | null; last_due: Date | null };

/** The place of a game in the order of its lane. */
export const placeInLane = ({
  game_id,
  due,
}: Pick<LaneGame, 'game_id' | 'due'>): readonly [value: string, id: string] => [due.toISOString(), game_id];

/** The games of a page of `limit`, and the place after which the next one begins. */
const toPage = (scanned: readonly ScannedGame[], limit: number): Pick<Listed<LaneGame>, 'rows' | 'next'> => {
  const found = scanned.flatMap(({ last_id: _id, last_due: _due, ...game }) =>
    game.game_id === null ? [] : [game],
  );
  const rows = found.slice(0, limit);
  const [end] = scanned;
  const cut = end?.last_id && end.last_due ? { game_id: end.last_id, due: end.last_due } : undefined;
  const last = found.length > limit ? rows.at(-1) : cut;
  return { rows, next: last && placeInLane(last) };
};

/** An application whose games are due after another time than those of most, or are in no lane because it is held. */
type Stream = { application_id: string; target_ms: number; is_held: boolean };

/** The applications that are read one by one, and the target of the others. @param application_id reads that one alone */
const readStreams = async (sql: Queryable, application_id: string | undefined) => {
  const streams = await sql<Stream[]>`
    select application_id, review_target_ms(review_priority) as target_ms, h.application_id is not null as is_held
    from applications a left join application_holds h using (application_id)
    where ${
      application_id === undefined
        ? sql`review_priority <> 'normal' or application_id in (select application_id from application_holds)`
        : sql`application_id = ${application_id}`
    }`;
  return {
    single: streams.filter(({ is_held }) => !is_held),
    excluded: streams.map((stream) => stream.application_id),
  };
};

/** A subquery, because Postgres calls the function for each row otherwise. */
const usualTarget = (sql: Queryable): Fragment => sql`(select review_target_ms('normal'))`;

/** How the tables of one lane give its games in the order in which they are due, after a place. */
type Scan = {
  /** The games of the application `s.application_id`, which are due after `s.target_ms`. */
  ofOne: Fragment;
  /** The games of all applications but some. */
  ofOthers: (excluded: string[], most: Fragment) => Fragment;
};

/**
 * The games of the new lane, which wait for their first decision, in the order in which they were first seen. The index of
 * `game.listByAuditStatus` has them. Its array comparison is explained in db/queries/api-games.ts.
 */
const scanNew = (sql: Queryable, { after, descending }: LanePage): Scan => {
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  const boundOf = (target: Fragment) =>
    after === undefined ? sql`null::uuid` : sql`lane_bound(${after[0]}, ${target}, ${after[1]})`;
  const beyond = (target: Fragment) => after !== undefined && sql`g.game_id ${compare} ${boundOf(target)}`;
  const isNew = sql`g.withdrawn_at is null and not exists (select from changed_games c where c.game_id = g.game_id)`;
  const columns = (target: Fragment) => sql`
    g.game_id, g.game_name, to_timestamp((game_ms(g.game_id) + ${target}) / 1000.0) as due, null::timestamptz as since,
    null::int as decided_revision`;
  const usual = usualTarget(sql);
  return {
    ofOne: sql`
      select ${columns(sql`s.target_ms`)} from games g ${where(sql, [
        sql`g.application_id = any (array[s.application_id]) and g.audit_status = 'pending'`,
        isNew,
        beyond(sql`s.target_ms`),
      ])} order by g.application_id ${direction}, g.game_id ${direction}`,
    ofOthers: (excluded, most) =>
      descending
        ? sql`select ${columns(usual)} from games g ${where(sql, [
            sql`g.audit_status = any (array['pending'])`,
            isNew,
            excluded.length > 0 && sql`g.application_id <> all(${excluded}::text[])`,
            beyond(usual),
          ])} order by g.audit_status desc, g.game_id desc limit ${most}`
        : sql`select ${columns(usual)} from list_new_games(${excluded}, ${boundOf(usual)}, ${most}) g`,
  };
};

/** The games of the changed lane, which changed after a decision, in the order in which they changed. */
const scanChanged = (sql: Queryable, { after, descending }: LanePage): Scan => {
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  const inMs = (target: Fragment) => sql`${target} * interval '1 millisecond'`;
  const scan = (target: Fragment, condition: Fragment | false) => sql`
    select c.game_id, null as game_name, c.since + ${inMs(target)} as due, c.since, c.decided_revision
    from changed_games c ${where(sql, [
      condition,
      after &&
        sql`(c.since, c.game_id) ${compare} (${after[0]}::timestamptz - ${inMs(target)}, ${after[1]}::uuid)`,
    ])} order by c.since ${direction}, c.game_id ${direction}`;
  return {
    ofOne: scan(sql`s.target_ms`, sql`c.application_id = s.application_id`),
    ofOthers: (excluded, most) =>
      sql`${scan(
        usualTarget(sql),
        excluded.length > 0 && sql`c.application_id <> all(${excluded}::text[])`,
      )} limit ${most}`,
  };
};

/**
 * Reads one page of a lane. With a text, a page may end before it is full.
 *
 * Most applications have the usual target, so their games are one stream in the order of an index. Each other application
 * is a stream of its own. The first games of all streams together are among those of the streams that begin first.
 */
export const listLanePage = async (
  sql: Queryable,
  { lane, application_id, search }: LaneFilter & { lane: Lane },
  page: LanePage,
): Promise<Listed<LaneGame>> => {
  const { limit, descending, uncounted = false } = page;
  const direction = descending ? sql`desc` : sql`asc`;
  // A parameter as LIMIT counts as a tenth of the lane, so Postgres would plan each page of a long lane anew.
  const literal = (count: number): Fragment => sql.unsafe(String(count));
  // One game more than the page shows whether there is a next page.
  const most = literal(limit + 1);
  const { single, excluded } = await readStreams(sql, application_id);
  const ofEach = Math.ceil(LANE_NAMES_COMPARED / Math.max(1, single.length));
  const fromOthers = search === undefined ? most : literal(LANE_NAMES_COMPARED);
  const fromOne = search === undefined ? most : literal(Math.max(limit + 1, ofEach));
  // Postgres assumes some applications of an array that it does not know, and plans for them each time.
  const streams =
    single.length === 0
      ? sql`select null::text as application_id, null::bigint as target_ms where false`
      : sql`select * from unnest(${single.map((stream) => stream.application_id)}::text[],
                                 ${single.map(({ target_ms }) => target_ms)}::bigint[]) as s (application_id, target_ms)`;
  const { ofOne, ofOthers } = (lane === 'new' ? scanNew : scanChanged)(sql, page);
  const others =
    application_id === undefined
      ? sql`union all (select '', o.* from (${ofOthers(excluded, fromOthers)}) o)`
      : sql``;
  // The changed lane has no names.
  const hasNames = lane === 'new';
  const names = search === undefined || hasNames ? sql`` : sql`join games g using (game_id)`;
  const beyond = descending ? sql`<` : sql`>`;
  const read = await sql<ScannedGame[]>`
    with streams as (${streams}), heads as (
      select s.application_id, s.target_ms, head.due, head.game_id
      from streams s cross join lateral (${ofOne} limit 1) head
      order by due ${direction}, game_id ${direction} limit ${most} + 1
    ), begun as (
      select s.application_id as stream, each.*
      from (select * from heads order by due ${direction}, game_id ${direction} limit ${most}) s
      cross join lateral (${ofOne} limit ${fromOne}) each
      ${others}
    ), numbered as materialized (
      select *, row_number() over (partition by stream order by due ${direction}, game_id ${direction}) as n from begun
    ), ending as (
      -- Behind this place, a stream may have games that were not read.
      select due, game_id from (
        (select due, game_id from heads order by due ${direction}, game_id ${direction} offset ${most})
        union all
        select due, game_id from numbered where n = case stream when '' then ${fromOthers} else ${fromOne} end
      ) as ends order by due ${direction}, game_id ${direction} limit 1
    ), found as (
      select s.* from numbered s ${names} ${where(sql, [
        search !== undefined && contains(sql, search, [hasNames ? 's.game_name' : 'g.game_name']),
        sql`not exists (select from ending where (s.due, s.game_id) ${beyond} (ending.due, ending.game_id))`,
      ])}
      order by s.due ${direction}, s.game_id ${direction} limit ${most}
    )
    select g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.revision,
           a.name as application_name, coalesce(found.since, g.created_at) as since, found.due,
           decided.revision as decided_revision, decided.audit_status as decided_status,
           ending.game_id as last_id, ending.due as last_due
    from (select 1) one left join ending on true left join (
      found join games g using (game_id) join applications a using (application_id)
      left join lateral standing_decision(case when found.decided_revision is not null then g.game_id end) decided
        on true
    ) on true
    order by found.due ${direction}, g.game_id ${direction}`;
  const total = uncounted || search !== undefined ? null : (await countLanes(sql, application_id))[lane];
  return { ...toPage(read, limit), total };
};
