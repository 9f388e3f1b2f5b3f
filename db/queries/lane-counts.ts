/** Counts of the lanes: all games, the games before a place, and the games that are due. */
import type { Queryable } from '#db/client.ts';
import { onlyRow, onlyValue } from '#db/rows.ts';
import type { Lane } from '#src/contract/words.ts';

type LaneCounts = { new: number; changed: number };

/** Counts the pending games of held applications, which are in no lane. */
export const pendingHeld = (sql: Queryable, ofScope = sql``) => sql`
  (select coalesce(sum(games), 0) from application_holds, game_totals(application_id)
   where audit_status = 'pending' ${ofScope})`;

/** Counts both lanes, of all applications or one, from the counters of games. */
export const countLanes = (sql: Queryable, application_id?: string): Promise<LaneCounts> => {
  const ofScope = application_id === undefined ? sql`` : sql`and application_id = ${application_id}`;
  return onlyRow(sql<LaneCounts[]>`
    with counted as (
      select (select coalesce(sum(games), 0) from game_totals(${application_id ?? ''})
              where audit_status = 'pending') as pending,
             ${pendingHeld(sql, ofScope)} as pending_held,
             count_changed_games(${application_id ?? ''})
               - (select coalesce(sum(count_changed_games(application_id)), 0) from application_holds
                  where true ${ofScope}) as changed
    )
    select (pending - pending_held - changed)::int as new, changed::int as changed from counted`);
};

/** Counts the games of a lane that are due before a place. */
export const countBeforeInLane = (
  sql: Queryable,
  lane: Lane,
  { game_id, due }: { game_id: string; due: Date },
  application_id = '',
): Promise<number> =>
  onlyValue(sql<{ before: number }[]>`
    select count_lane_before(${lane}, ${application_id}, ${due}, ${game_id})::int as before`);

/** Reads when a pending game entered its lane, and when it is due. `changed_since` is null in the new lane. */
export const readDueTime = (sql: Queryable, game_id: string) =>
  onlyRow(sql<{ changed_since: Date | null; due: Date; is_held: boolean }[]>`
    select c.since as changed_since, h.application_id is not null as is_held,
           coalesce(c.since, to_timestamp(game_ms(g.game_id) / 1000.0))
             + review_target_ms(a.review_priority) * interval '1 millisecond' as due
    from games g join applications a using (application_id) left join changed_games c using (game_id)
    left join application_holds h on h.application_id = g.application_id
    where g.game_id = ${game_id}`);

/** Counts the games of each lane that are due. */
export const countDueGames = async (sql: Queryable): Promise<DueCounts> => {
  const rows = await sql<{ lane: keyof DueCounts; games: number }[]>`
    select lane, games::float8 from count_due_games()`;
  return Object.fromEntries(rows.map(({ lane, games }) => [lane, games])) as DueCounts;
};

export type DueCounts = Record<Lane | 'appeals', number>;

/** The median wait is taken from this many of the latest decisions. */
const RECENT_DECISIONS = 500;

/** Reads the median time that games waited before the latest decisions. Null before the first decision. */
export const readMedianWaitMs = (sql: Queryable): Promise<number | null> =>
  onlyValue(sql<{ median: number | null }[]>`
    select extract(epoch from percentile_cont(0.5) within group (order by decided_at - waiting_since))::float8 * 1000
             as median
    from (
      select decided_at, waiting_since from game_audits
      where waiting_since is not null and undone_at is null
      order by audit_id desc limit ${RECENT_DECISIONS}
    ) as recent`);
