import type { Queryable } from '#db/client.ts';
import { onlyRow } from '#db/rows.ts';

/** Rules that hold for every process. */
export type DecisionRules = {
  /** GAMES_NEED_VERDICT: a game is passed only if its developer has a standing verdict. */
  games_need_verdict: boolean;
  /** REVIEW_TARGET: how long after its arrival in a lane a game is due. */
  review_target_ms: number;
};

export const readDecisionRules = (sql: Queryable): Promise<DecisionRules> =>
  onlyRow(sql<DecisionRules[]>`
    select games_need_verdict, review_target_ms::float8 as review_target_ms from decision_rules`);

/** Sets rules. Absent ones stay as they are. */
export const setDecisionRules = async (sql: Queryable, rules: Partial<DecisionRules>): Promise<void> => {
  const { games_need_verdict = null, review_target_ms = null } = rules;
  await sql`
    update decision_rules set games_need_verdict = coalesce(${games_need_verdict}::bool, games_need_verdict),
                              review_target_ms = coalesce(${review_target_ms}::bigint, review_target_ms)
    where games_need_verdict <> ${games_need_verdict}::bool or review_target_ms <> ${review_target_ms}::bigint`;
};
