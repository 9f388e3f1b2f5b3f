import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { onlyRow } from '#db/rows.ts';

/** What was decided on an application's games in the last 90 days, and how many it withdrew. */
export type DecisionHistory = { passed: number; rejected: number; withdrawn: number };

/** A rejection of an application's game that stands. */
export type RecentRejection = Pick<GameRow, 'game_id' | 'game_name'> & {
  audit_time: Date;
  reason_label: string | null;
  text: string | null;
};

export const HISTORY_DAYS = 90;
/** Each count stops above this. */
export const HISTORY_MAX = 1_000;

/** Counts from the indexes of an application's games, which have the time of the decision. */
export const readDecisionHistory = (sql: Queryable, application_id: string): Promise<DecisionHistory> => {
  const since = sql`now() - ${HISTORY_DAYS} * interval '1 day'`;
  const decided = (status: string) => sql`
    (select count(*)::int from (
      select from games
      where application_id = ${application_id} and audit_status = ${status} and withdrawn_at is null
        and audit_time > ${since}
      limit ${HISTORY_MAX + 1}) as decided)`;
  return onlyRow(sql<DecisionHistory[]>`
    select ${decided('passed')} as passed, ${decided('rejected')} as rejected,
           (select count(*)::int from (
             select from games where application_id = ${application_id} and withdrawn_at > ${since}
             limit ${HISTORY_MAX + 1}) as gone) as withdrawn`);
};

/** Lists the last rejections of an application's other games. */
export const listRecentRejections = (
  sql: Queryable,
  { application_id, game_id }: Pick<GameRow, 'application_id' | 'game_id'>,
  limit: number,
): Promise<RecentRejection[]> =>
  sql<RecentRejection[]>`
    select g.game_id, g.game_name, g.audit_time, r.label as reason_label, d.text
    from (
      select game_id, game_name, audit_time from games
      where application_id = ${application_id} and audit_status = 'rejected' and withdrawn_at is null
        and game_id <> ${game_id}
      order by audit_time desc limit ${limit}
    ) as g
    cross join lateral standing_decision(g.game_id) d left join reasons r on r.code = d.reason
    order by g.audit_time desc`;
