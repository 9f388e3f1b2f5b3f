import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { lastRun } from '#db/queries/run-list.ts';
import { contains, where } from '#db/where.ts';
import type { RunOutcome } from '#src/contract/words.ts';

/** An application with its latest run that has ended; `last_…` is null before the first. */
export type ApplicationItem = Omit<ApplicationRow, 'access_token' | 'access_token_keys'> & {
  last_run_id: string | null;
  last_outcome: RunOutcome | null;
  last_reason: string | null;
  last_finished_at: Date | null;
  has_open_run: boolean;
  /** Games that are not withdrawn. */
  games: number;
  /** Its last run, if that is suspect. */
  suspect_run: string | null;
  suspect_reason: string | null;
};

export const APPLICATION_SORTS = [
  'application_id',
  'name',
  'created_at',
  'last_run_at',
  'last_success_at',
  'failing_since',
] as const;

/** `trouble`: paused, failing, or its last run is suspect. */
export const APPLICATION_CONDITIONS = ['active', 'paused', 'failing', 'trouble'] as const;
type ApplicationFilter = {
  status?: (typeof APPLICATION_CONDITIONS)[number] | undefined;
  outcome?: RunOutcome | undefined;
  search?: string | undefined;
};

/** At most this many of the latest suspect runs are read. */
const SUSPECT_MAX = 5_000;

/** The applications whose last run is suspect. The query begins with the suspect runs, because they are few. */
const suspectApplications = (sql: Queryable) => sql`(
  with last_suspect as materialized (
    select distinct on (application_id) application_id, run_id, run_number, reason from (
      select application_id, run_id, run_number, reason from sync_runs
      where outcome = 'suspect' order by run_number desc limit ${SUSPECT_MAX}
    ) as recent order by application_id, run_number desc
  )
  select * from last_suspect s where not exists (
    select from sync_runs r where r.application_id = s.application_id and r.run_number > s.run_number
      and r.finished_at is not null and r.outcome <> 'abandoned'))`;

const CONDITIONS = {
  active: (sql: Queryable) => sql`a.status = 'active'`,
  paused: (sql: Queryable) => sql`a.status = 'paused'`,
  failing: (sql: Queryable) => sql`a.failing_since is not null`,
  trouble: (sql: Queryable) =>
    sql`(a.status = 'paused' or a.failing_since is not null or suspect.run_id is not null)`,
};

/** Reads one page of the applications. */
export const listApplicationPage = (
  sql: Queryable,
  { status, outcome, search }: ApplicationFilter,
  page: ListPage<(typeof APPLICATION_SORTS)[number]>,
) => {
  const suspects = sql`left join ${suspectApplications(sql)} suspect on suspect.application_id = a.application_id`;
  const lastRuns = sql`left join ${lastRun(sql)} last on true`;
  const conditions = where(sql, [
    sql`a.status <> 'removed'`,
    status && CONDITIONS[status](sql),
    outcome && sql`last.outcome = ${outcome}`,
    search !== undefined && contains(sql, search, ['a.application_id', 'a.name']),
  ]);
  const sorts = {
    application_id: sql`a.application_id`,
    name: sql`a.name`,
    created_at: sql`a.created_at`,
    last_run_at: sql`coalesce(last.finished_at, '-infinity')`,
    last_success_at: sql`coalesce(a.last_success_at, '-infinity')`,
    failing_since: sql`coalesce(a.failing_since, 'infinity')`,
  };
  return readListPage<ApplicationItem>(sql, page, {
    columns: sql`
      a.application_id, a.name, a.query_game_list_webhook, a.query_game_detail_webhook, a.query_cp_kyc_webhook,
      a.every_ms, a.kyc_every_ms, a.detail_max_age_ms, a.concurrency, a.rate, a.volatile_parameters,
      a.review_priority, a.status, a.failed_runs, a.failing_since, a.next_attempt_at, a.pause_reason, a.last_success_at,
      a.created_at, a.updated_at,
      last.run_id as last_run_id, last.outcome as last_outcome, last.reason as last_reason,
      last.finished_at as last_finished_at,
      exists (select from sync_runs r where r.application_id = a.application_id and r.finished_at is null)
        as has_open_run,
      (select coalesce(sum(games), 0)::int from game_totals(a.application_id)) as games,
      suspect.run_id as suspect_run, suspect.reason as suspect_reason`,
    from: sql`applications a ${suspects} ${lastRuns} ${conditions}`,
    counted: sql`applications a ${status === 'trouble' ? suspects : sql``} ${outcome === undefined ? sql`` : lastRuns} ${conditions}`,
    sort_by: sorts[page.sort],
    id: sql`a.application_id`,
  });
};
