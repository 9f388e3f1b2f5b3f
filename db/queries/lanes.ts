import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { onlyRow, onlyValue, readValue } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import type { Decision } from '#src/contract/words.ts';

/** What both lanes are filtered by. */
export type LaneFilter = {
  application_id?: string | undefined;
  /** Part of the name, in any case. */
  text?: string | undefined;
};

/** A place in a lane. Rows after it are listed. */
export type LanePlace = { game_id: string; since: Date };

export type LaneRow = Pick<
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

/** `last` is the place up to which the lane was read: undefined at its end. */
export type LaneRows = { rows: LaneRow[]; last: LanePlace | undefined };

/** Lists a part of a lane. @param limit at most 500 */
type ListLane = (
  sql: Queryable,
  filter: LaneFilter,
  after: LanePlace | undefined,
  limit: number,
) => Promise<LaneRows>;

/** Names that one call compares with a text. A rare text then takes several pages. */
export const COMPARED_MAX = 4_000;

type ScannedRow = LaneRow & { last_id: string | null; last_since: Date | null; scanned: number };

const toLaneRows = (read: readonly ScannedRow[], limit: number, scanMax: number): LaneRows => {
  const rows = read
    .filter((row) => row.game_id !== null)
    .map(({ last_id: _id, last_since: _since, scanned: _scanned, ...row }) => row);
  const [first] = read;
  if (rows.length === limit) return { rows, last: rows.at(-1) };
  const isCut = first !== undefined && first.scanned === scanMax && first.last_id !== null;
  return {
    rows,
    last: isCut ? { game_id: first.last_id ?? '', since: first.last_since ?? new Date(0) } : undefined,
  };
};

/**
 * Reads the new lane: games that wait for their first decision, in the order in which they were first seen. The index
 * of `game.listByAuditStatus` has them: its array comparison is explained there (db/queries/api-games.ts).
 */
export const listNewLane: ListLane = async (sql, { application_id, text }, after, limit) => {
  const scanMax = text === undefined ? limit : COMPARED_MAX;
  const start = after?.game_id ?? '00000000-0000-0000-0000-000000000000';
  const index =
    application_id === undefined
      ? sql`audit_status = any (array['pending']) and withdrawn_at is null and game_id > ${start}`
      : sql`application_id = any (array[${application_id}]) and audit_status = 'pending' and withdrawn_at is null
            and game_id > ${start}`;
  const order = application_id === undefined ? sql`audit_status, game_id` : sql`application_id, game_id`;
  const read = await sql<ScannedRow[]>`
    with scanned as materialized (
      select g.game_id, g.game_name from games g
      where ${index} and not exists (select from changed_games c where c.game_id = g.game_id)
      order by ${order} limit ${scanMax}
    ), found as (
      select game_id from scanned ${where(sql, [text !== undefined && contains(sql, text, ['game_name'])])}
      order by game_id limit ${limit}
    ), ending as (
      select count(*)::int as scanned, (select game_id from scanned order by game_id desc limit 1) as last_id
      from scanned
    )
    select g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.revision,
           a.name as application_name, g.created_at as since, null as decided_status, null as decided_revision,
           ending.scanned, ending.last_id, null as last_since
    from ending left join (found join games g using (game_id) join applications a using (application_id)) on true
    order by g.game_id`;
  return toLaneRows(read, limit, scanMax);
};

/** Reads the changed lane: games that changed after a decision, those that wait longest first. */
export const listChangedLane: ListLane = async (sql, { application_id, text }, after, limit) => {
  const scanMax = text === undefined ? limit : COMPARED_MAX;
  const read = await sql<ScannedRow[]>`
    with scanned as materialized (
      select c.game_id, c.since, c.decided_revision from changed_games c
      ${where(sql, [
        application_id !== undefined && sql`c.application_id = ${application_id}`,
        after !== undefined && sql`(c.since, c.game_id) > (${after.since}, ${after.game_id})`,
      ])}
      order by c.since, c.game_id limit ${scanMax}
    ), found as (
      select s.* from scanned s join games g using (game_id)
      ${where(sql, [text !== undefined && contains(sql, text, ['g.game_name'])])}
      order by s.since, s.game_id limit ${limit}
    ), ending as (
      select (select count(*)::int from scanned) as scanned, last.game_id as last_id, last.since as last_since
      from (select 1) one left join (select * from scanned order by since desc, game_id desc limit 1) last on true
    )
    select g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.revision,
           a.name as application_name, found.since, found.decided_revision, decided.audit_status as decided_status,
           ending.scanned, ending.last_id, ending.last_since
    from ending left join (
      found join games g using (game_id) join applications a using (application_id)
      left join lateral standing_decision(g.game_id) decided on true
    ) on true
    order by found.since, g.game_id`;
  return toLaneRows(read, limit, scanMax);
};

export type LaneCounts = { new: number; changed: number };

/** Counts both lanes, of all applications or one, from the counters of `data.total` and the table of changed games. */
export const countLanes = (sql: Queryable, application_id?: string): Promise<LaneCounts> => {
  const scope = application_id ?? '';
  return onlyRow(sql<LaneCounts[]>`
    select (pending - changed)::int as new, changed::int as changed
    from (
      select (select coalesce(sum(games), 0) from game_totals(${scope}) where audit_status = 'pending') as pending,
             (select count(*) from changed_games where ${scope} in ('', application_id)) as changed
    ) as counted`);
};

/**
 * Counts the games of the new lane before a game, of all applications: from the counters up to its 128 milliseconds,
 * then from the index.
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
    )::int as before`);

/** Counts the games of the changed lane before a place. */
export const countBeforeInChangedLane = (sql: Queryable, place: LanePlace): Promise<number> =>
  onlyValue(sql<{ before: number }[]>`
    select count(*)::int as before from changed_games where (since, game_id) < (${place.since}, ${place.game_id})`);

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
