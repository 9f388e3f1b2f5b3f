/** What the console's pages show of the whole fleet. Each statement reads a bounded number of rows, or an index. */
import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { PageRow, RunRow } from '#db/queries/runs.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import type { Reason } from '#src/contract/text.ts';
import type { AuditStatus, Operation, RunOutcome } from '#src/contract/words.ts';

/** One of the last 24 hours. */
export type HourRow = { hour: Date; landed: number } & Record<RunOutcome, number>;

/** Games that landed and runs by outcome, for each of the last `hours` hours, oldest first: 25 ms an hour at 40,000 runs. */
export const readRunHours = (sql: Queryable, hours: number): Promise<HourRow[]> =>
  sql<HourRow[]>`
    with hours as (
      select generate_series(date_trunc('hour', now()) - ${hours - 1} * interval '1 hour', date_trunc('hour', now()),
                             interval '1 hour') as hour
    ), ended as (
      select date_trunc('hour', finished_at) as hour, outcome, count(*)::int as runs, sum(inserted)::int as inserted
      from sync_runs where finished_at >= date_trunc('hour', now()) - ${hours - 1} * interval '1 hour' group by 1, 2
    )
    select hours.hour, coalesce(sum(e.inserted), 0)::int as landed,
           coalesce(sum(e.runs) filter (where outcome = 'succeeded'), 0)::int as succeeded,
           coalesce(sum(e.runs) filter (where outcome = 'partial'), 0)::int as partial,
           coalesce(sum(e.runs) filter (where outcome = 'suspect'), 0)::int as suspect,
           coalesce(sum(e.runs) filter (where outcome = 'failed'), 0)::int as failed,
           coalesce(sum(e.runs) filter (where outcome = 'abandoned'), 0)::int as abandoned
    from hours left join ended e using (hour) group by hours.hour order by hours.hour`;

/** Decisions that the chart counts, at most. */
const DECISIONS_MAX = 50_000;

/** Decisions of each of the last 24 hours, oldest first. */
export const readDecisionHours = (sql: Queryable): Promise<{ passed: number; rejected: number }[]> =>
  sql<{ passed: number; rejected: number }[]>`
    with hours as (
      select generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()),
                             interval '1 hour') as hour
    ), latest as (
      select decided_at, audit_status from game_audits order by audit_id desc limit ${DECISIONS_MAX}
    ), decided as (
      select date_trunc('hour', decided_at) as hour, audit_status, count(*)::int as games from latest
      where decided_at >= date_trunc('hour', now()) - interval '23 hours' group by 1, 2
    )
    select coalesce(sum(games) filter (where audit_status = 'passed'), 0)::int as passed,
           coalesce(sum(games) filter (where audit_status = 'rejected'), 0)::int as rejected
    from hours left join decided using (hour) group by hours.hour order by hours.hour`;

/** An application that needs a person. */
export type TroubleRow = Pick<
  ApplicationRow,
  'application_id' | 'name' | 'status' | 'pause_reason' | 'failing_since' | 'failed_runs'
> & { suspect_run: string | null };

/** The latest suspect runs that `listTrouble` reads. */
const SUSPECT_MAX = 5_000;

/** Applications that are paused, fail, or whose last run is suspect: those that fail longest first. */
export const listTrouble = (sql: Queryable, limit: number): Promise<TroubleRow[]> =>
  sql<TroubleRow[]>`
    with last_suspect as materialized (
      select distinct on (application_id) application_id, run_id, run_number from (
        select application_id, run_id, run_number from sync_runs
        where outcome = 'suspect' order by run_number desc limit ${SUSPECT_MAX}
      ) as recent order by application_id, run_number desc
    ), suspect as (
      select * from last_suspect s where not exists (
        select from sync_runs r where r.application_id = s.application_id and r.run_number > s.run_number
          and r.finished_at is not null and r.outcome <> 'abandoned')
    )
    select a.application_id, a.name, a.status, a.pause_reason, a.failing_since, a.failed_runs,
           s.run_id as suspect_run
    from applications a left join suspect s using (application_id)
    where a.status <> 'removed' and (a.status = 'paused' or a.failing_since is not null or s.run_id is not null)
    order by a.failing_since nulls last, s.run_id is null, a.application_id limit ${limit}`;

/** Failures of one kind and field of one application. */
export type FailureGroup = {
  application_id: string;
  operation: Operation;
  kind: string;
  reasons: Reason[];
  games: number;
  first_at: Date;
  last_at: Date;
  example: string;
};

/** The latest failures that are grouped. */
const GROUPED_MAX = 20_000;

/** Groups the latest failures by application, kind and fields; the largest groups first. */
export const groupFailures = (
  sql: Queryable,
  { application_id, limit }: { application_id?: string | undefined; limit: number },
): Promise<FailureGroup[]> =>
  sql<FailureGroup[]>`
    with latest as (
      select * from ingest_failures
      ${where(sql, [application_id !== undefined && sql`application_id = ${application_id}`])}
      order by last_at desc limit ${GROUPED_MAX}
    )
    select application_id, operation, kind, reasons, count(*)::int as games, min(first_at) as first_at,
           max(last_at) as last_at, (array_agg(application_game_id order by last_at desc))[1] as example
    from latest group by application_id, operation, kind, reasons
    order by games desc, application_id, operation, kind limit ${limit}`;

/** An application of the list. */
export type ApplicationItem = Pick<
  ApplicationRow,
  'application_id' | 'name' | 'status' | 'pause_reason' | 'failing_since' | 'every_ms' | 'last_success_at'
> & { last_outcome: RunOutcome | null; running: boolean; games: number };

/** A page of the applications, by id. `games` is the number that is not withdrawn. */
export const listApplicationItems = (
  sql: Queryable,
  filter: {
    text?: string | undefined;
    status?: string | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<ApplicationItem[]> => {
  const { text, status, after, limit } = filter;
  return sql<ApplicationItem[]>`
    with page as (
      select * from applications
      ${where(sql, [
        sql`status <> 'removed'`,
        text !== undefined && contains(sql, text, ['application_id', 'name']),
        status !== undefined &&
          (status === 'failing' ? sql`failing_since is not null` : sql`status = ${status}`),
        after !== undefined && sql`application_id > ${after}`,
      ])}
      order by application_id limit ${limit}
    )
    select p.application_id, p.name, p.status, p.pause_reason, p.failing_since, p.every_ms, p.last_success_at,
           last.outcome as last_outcome,
           exists (select from sync_runs r where r.application_id = p.application_id and r.finished_at is null) as running,
           (select coalesce(sum(games), 0)::int from game_totals(p.application_id)) as games
    from page p left join lateral (
      select outcome from sync_runs r where r.application_id = p.application_id and r.finished_at is not null
      order by run_number desc limit 1
    ) last on true
    order by p.application_id`;
};

/** A page of the runs, latest first. @param before a run id */
export const listRunItems = (
  sql: Queryable,
  {
    application_id,
    outcome,
    before,
    limit,
  }: {
    application_id?: string | undefined;
    outcome?: string | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<RunRow[]> =>
  sql<RunRow[]>`
    select * from sync_runs
    ${where(sql, [
      application_id !== undefined && sql`application_id = ${application_id}`,
      outcome !== undefined && (outcome === 'open' ? sql`finished_at is null` : sql`outcome = ${outcome}`),
      before !== undefined && sql`run_number < (select run_number from sync_runs where run_id = ${before})`,
    ])}
    order by run_number desc limit ${limit}`;

export type RunPageItem = Pick<
  PageRow,
  | 'page_num'
  | 'kind'
  | 'reason'
  | 'row_count'
  | 'listed'
  | 'inserted'
  | 'updated'
  | 'unchanged'
  | 'invalid'
  | 'failed'
> & { missing: number; waiting: number; listed_at: Date };

/** The pages of a run, latest first. */
export const listRunPages = (sql: Queryable, run_id: string, limit: number): Promise<RunPageItem[]> =>
  sql<RunPageItem[]>`
    select page_num, kind, reason, row_count, listed, inserted, updated, unchanged, invalid, failed, missing, listed_at,
           (select count(*)::int from jsonb_object_keys(open_games)) as waiting
    from sync_run_pages where run_id = ${run_id} order by page_num desc limit ${limit}`;

/** The ids and names of the applications that have games, for the filters of pages. */
export const listApplicationNames = (sql: Queryable, limit: number) =>
  sql<Pick<ApplicationRow, 'application_id' | 'name'>[]>`
    select application_id, name from applications where status <> 'removed' order by application_id limit ${limit}`;

/** Figures of one application: its games by status. */
export const countGamesOf = (sql: Queryable, application_id: string) =>
  onlyRow(sql<Record<AuditStatus, number>[]>`
    select coalesce(sum(games) filter (where audit_status = 'pending'), 0)::int as pending,
           coalesce(sum(games) filter (where audit_status = 'passed'), 0)::int as passed,
           coalesce(sum(games) filter (where audit_status = 'rejected'), 0)::int as rejected
    from game_totals(${application_id})`);

/** Decisions among which the last one of an operator is searched. */
const LATEST_DECISIONS = 5_000;

/** The last decision of an operator that stands, with those of its batch. */
export const findLastDecision = async (sql: Queryable, login: string) =>
  firstRow(sql<{ audit_ids: number[]; game_id: string; batch_id: string | null }[]>`
    with latest as (
      select audit_id, game_id, batch_id from (
        select * from game_audits order by audit_id desc limit ${LATEST_DECISIONS}
      ) a
      where decided_by = ${login} and undone_at is null order by audit_id desc limit 1
    )
    select l.game_id, l.batch_id, array(
             select audit_id from game_audits a
             where l.batch_id is not null and a.batch_id = l.batch_id and a.undone_at is null
             union select l.audit_id) as audit_ids
    from latest l`);
