/** How many games are decided, by whom, and how long they waited. */
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { readValue } from '#db/rows.ts';

/** The decisions of one reviewer on one day in UTC. Decisions that were carried over count for no reviewer. */
export type FiguresRow = {
  day: string;
  reviewer: string;
  decisions: number;
  passed: number;
  rejected: number;
  undone: number;
  /** Rejections that an appeal overturned, so far. */
  overturned: number;
  /** How long games waited, in milliseconds; null if none of them was pending. */
  median_wait_ms: number | null;
  p95_wait_ms: number | null;
};

const FIGURES_DAYS = 30;

/** The time at which figures begin: as given, else 30 days ago. */
export const figuresSince = (sql: Queryable, since: Date | undefined) =>
  sql`${since ?? sql`now() - ${FIGURES_DAYS} * interval '1 day'`}`;

const waits = (sql: Queryable, share: number) => sql`
  (extract(epoch from percentile_cont(${share}::float8) within group (order by d.decided_at - d.waiting_since)) * 1000)::float8`;

/** Reads one page of the figures since a time, 30 days by default. */
export const listFiguresPage = (
  sql: Queryable,
  { since }: { since?: Date | undefined },
  page: ListPage<'day'>,
) =>
  readListPage<FiguresRow>(sql, page, {
    columns: sql`f.*`,
    from: sql`(
      select to_char(d.decided_at at time zone 'UTC', 'YYYY-MM-DD') as day, d.decided_by as reviewer,
             count(*)::int as decisions,
             (count(*) filter (where d.audit_status = 'passed'))::int as passed,
             (count(*) filter (where d.audit_status = 'rejected'))::int as rejected,
             (count(*) filter (where d.undone_at is not null))::int as undone,
             (count(*) filter (where p.outcome = 'overturned'))::int as overturned,
             ${waits(sql, 0.5)} as median_wait_ms, ${waits(sql, 0.95)} as p95_wait_ms
      from game_audits d left join game_appeals p using (audit_id)
      where d.carried_over_from is null
        and d.decided_at >= ${figuresSince(sql, since)}
      group by 1, 2
    ) as f where true`,
    sort_by: sql`f.day`,
    id: sql`f.reviewer`,
  });

/** Reads the median wait of games that were decided since a time, 30 days by default; null if none of them waited. */
export const readMedianWait = async (sql: Queryable, since: Date | undefined): Promise<number | null> =>
  (await readValue(sql<{ median_ms: number | null }[]>`
    select ${waits(sql, 0.5)} as median_ms from game_audits d
    where d.carried_over_from is null and d.decided_at >= ${figuresSince(sql, since)}`)) ?? null;

/** Counts the games that each operator has decided since midnight, in UTC. */
export const countDecisionsToday = async (sql: Queryable): Promise<Record<string, number>> =>
  (await readValue(sql<{ decided: Record<string, number> | null }[]>`
    select jsonb_object_agg(decided_by, games) as decided from (
      select decided_by, count(*)::int as games from game_audits
      where decided_at >= date_trunc('day', now(), 'UTC') group by decided_by
    ) as today`)) ?? {};
