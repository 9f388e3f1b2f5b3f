// What an operator lists to see which applications have trouble, and why.
import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { containsPattern } from '#db/rows.ts';
import type { RunOutcome } from '#src/contract/words.ts';

/** An application with its latest run that has ended; `last_…` is null before the first. */
export type ApplicationHealth = ApplicationRow & {
  last_run_id: string | null;
  last_outcome: RunOutcome | null;
  last_reason: string | null;
  last_finished_at: Date | null;
};

export const APPLICATION_SORTS = ['application_id', 'name', 'created_at', 'last_run_at'] as const;
type ApplicationFilter = {
  status?: 'active' | 'paused' | undefined;
  outcome?: RunOutcome | undefined;
  search?: string | undefined;
};

export const listApplicationHealth = (
  sql: Queryable,
  { status, outcome, search }: ApplicationFilter,
  page: ListPage<(typeof APPLICATION_SORTS)[number]>,
) =>
  readListPage<ApplicationHealth>(sql, page, {
    columns: sql`a.*, r.run_id as last_run_id, r.outcome as last_outcome, r.reason as last_reason,
      r.finished_at as last_finished_at`,
    from: sql`applications a left join lateral (
        select * from sync_runs where application_id = a.application_id and finished_at is not null
        order by run_id desc limit 1
      ) r on true
      where a.status <> 'removed'
        and ${status === undefined ? sql`true` : sql`a.status = ${status}`}
        and ${outcome === undefined ? sql`true` : sql`r.outcome = ${outcome}`}
        and ${search === undefined ? sql`true` : sql`(a.application_id ilike ${containsPattern(search)} or a.name ilike ${containsPattern(search)})`}`,
    sort_by:
      page.sort === 'last_run_at' ? sql`coalesce(r.finished_at, '-infinity')` : sql`a.${sql(page.sort)}`,
    id: sql`a.application_id`,
  });

export const FAILURE_SORTS = ['last_at', 'first_at', 'count'] as const;
type FailureFilter = {
  application_id?: string | undefined;
  since?: Date | undefined;
  search?: string | undefined;
};

/**
 * Open failures: of games, of KYC records, and of each application's latest run: a run that failed, was abandoned or is
 * suspect, and the pages that it could not read.
 */
export const listOpenFailures = (
  sql: Queryable,
  { application_id, since, search }: FailureFilter,
  page: ListPage<(typeof FAILURE_SORTS)[number]>,
) => {
  const ofApplication = application_id === undefined ? sql`true` : sql`application_id = ${application_id}`;
  const text = search === undefined ? undefined : containsPattern(search);
  return readListPage<FailureRow>(sql, page, {
    columns: sql`f.*`,
    from: sql`(
        select application_id, operation, application_game_id, kind, reasons, first_at, last_at, count
        from ingest_failures where ${ofApplication}
        union all
        select r.application_id, 'query_game_list', '',
               coalesce(substring(why.text from '^page \\d+: ([a-z_]+)'), r.outcome),
               jsonb_build_array(jsonb_build_object(
                 'path', coalesce(substring(why.text from '^(page \\d+): '), ''),
                 'code', regexp_replace(why.text, '^page \\d+: ', ''))),
               coalesce(a.failing_since, r.started_at), r.finished_at, greatest(a.failed_runs, 1)
        from (select * from applications where status <> 'removed' and ${ofApplication}) a
          cross join lateral (
            select * from sync_runs where application_id = a.application_id and finished_at is not null
            order by run_id desc limit 1
          ) r
          cross join lateral (
            select coalesce(r.reason, r.outcome) as text where r.outcome in ('failed', 'abandoned', 'suspect')
            union all
            select reason from sync_run_pages
            where run_id = r.run_id and kind = 'unread' and r.outcome = 'partial'
          ) why
      ) f
      where ${since === undefined ? sql`true` : sql`last_at >= ${since}`}
        and ${text === undefined ? sql`true` : sql`(application_game_id ilike ${text} or kind ilike ${text} or reasons::text ilike ${text})`}`,
    sort_by: sql`f.${sql(page.sort)}`,
    id: sql`concat_ws(' ', f.application_id, f.operation, f.application_game_id, f.kind, f.reasons)`,
  });
};

/** Failures that a run recorded and that are still open, by game. */
export const listFailuresOfRun = (sql: Queryable, run_id: string, limit: number): Promise<FailureRow[]> =>
  sql<FailureRow[]>`
    select f.* from ingest_failures f join sync_runs r using (application_id)
    where r.run_id = ${run_id} and f.operation in ('query_game_list', 'query_game_detail')
      and f.last_at >= r.started_at and f.first_at <= coalesce(r.finished_at, 'infinity')
    order by f.application_game_id, f.operation limit ${limit}`;
