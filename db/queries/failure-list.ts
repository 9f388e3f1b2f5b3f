import type { Queryable } from '#db/client.ts';
import { applicationName } from '#db/queries/applications.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { lastRun } from '#db/queries/run-list.ts';
import { contains, where } from '#db/where.ts';
import type { RunOutcome } from '#src/contract/words.ts';

export type FailureItem = Omit<FailureRow, 'final' | 'list_hash'>;

export const FAILURE_SORTS = ['last_at', 'first_at', 'count'] as const;

/** Where a failure comes from: a call and its rows, or the latest run of an application. */
export const FAILURE_SOURCES = ['calls', 'runs'] as const;
type FailureSource = (typeof FAILURE_SOURCES)[number];

type FailureFilter = {
  application_id?: string | undefined;
  source?: FailureSource | undefined;
  outcome?: RunOutcome | undefined;
  since?: Date | undefined;
  search?: string | undefined;
};

/** Failures of games and of KYC records. */
const failuresOfCalls = (sql: Queryable, application_id: string | undefined) => sql`
  select application_id, operation, application_game_id, kind, reasons, first_at, last_at, count
  from ingest_failures
  ${where(sql, [application_id !== undefined && sql`application_id = ${application_id}`])}`;

/**
 * Failures of each application's latest run: a run that failed, was abandoned or is suspect, and the pages that it could
 * not read.
 */
const failuresOfRuns = (sql: Queryable, application_id: string | undefined) => sql`
  select r.application_id, 'query_game_list' as operation, '' as application_game_id,
         coalesce(substring(why.text from '^page \\d+: ([a-z_]+)'), r.outcome) as kind,
         jsonb_build_array(jsonb_build_object(
           'path', coalesce(substring(why.text from '^(page \\d+): '), ''),
           'code', regexp_replace(why.text, '^page \\d+: ', ''))) as reasons,
         coalesce(a.failing_since, r.started_at) as first_at, r.finished_at as last_at,
         greatest(a.failed_runs, 1) as count
  from applications a
    cross join ${lastRun(sql)} r
    cross join lateral (
      select coalesce(r.reason, r.outcome) as text where r.outcome in ('failed', 'abandoned', 'suspect')
      union all
      select reason from sync_run_pages
      where run_id = r.run_id and kind = 'unread' and r.outcome = 'partial'
    ) why
  ${where(sql, [sql`a.status <> 'removed'`, application_id !== undefined && sql`a.application_id = ${application_id}`])}`;

/** The applications whose latest run that has ended had this outcome. */
const applicationsByOutcome = (sql: Queryable, outcome: RunOutcome) => sql`
  select a.application_id from applications a cross join ${lastRun(sql)} r where r.outcome = ${outcome}`;

const openFailures = (
  sql: Queryable,
  application_id: string | undefined,
  source: FailureSource | undefined,
) => {
  if (source === 'calls') return failuresOfCalls(sql, application_id);
  if (source === 'runs') return failuresOfRuns(sql, application_id);
  return sql`${failuresOfCalls(sql, application_id)} union all ${failuresOfRuns(sql, application_id)}`;
};

/** Reads one page of the open failures. */
export const listFailurePage = (
  sql: Queryable,
  { application_id, source, outcome, since, search }: FailureFilter,
  page: ListPage<(typeof FAILURE_SORTS)[number]>,
) =>
  readListPage<FailureItem>(sql, page, {
    columns: sql`f.*`,
    from: sql`(${openFailures(sql, application_id, source)}) f ${where(sql, [
      outcome && sql`f.application_id in (${applicationsByOutcome(sql, outcome)})`,
      since && sql`last_at >= ${since}`,
      search !== undefined && contains(sql, search, ['application_game_id', 'kind', sql`reasons::text`]),
    ])}`,
    sort_by: sql`f.${sql(page.sort)}`,
    id: sql`concat_ws(' ', f.application_id, f.operation, f.application_game_id, f.kind, f.reasons)`,
  });

/** Failures of one kind and field of one application. */
export type FailureGroup = Omit<FailureItem, 'application_game_id' | 'count'> & {
  application_name: string;
  games: number;
  /** One of its games; `NO_GAME` if none is known. */
  example: string;
};

export const GROUP_SORTS = ['games', 'last_at', 'first_at'] as const;

/** At most this many of the latest failures are grouped. */
const GROUPED_MAX = 20_000;

/**
 * Reads one page of the latest failures of calls, grouped by application, kind and fields. The groups are not counted,
 * because that would group twice.
 */
export const listFailureGroupPage = (
  sql: Queryable,
  { application_id }: { application_id?: string | undefined },
  page: ListPage<(typeof GROUP_SORTS)[number]>,
) =>
  readListPage<FailureGroup>(
    sql,
    { ...page, uncounted: true },
    {
      columns: sql`g.*, ${applicationName(sql, 'g')}`,
      from: sql`(
      select application_id, operation, kind, reasons, count(*)::int as games, min(first_at) as first_at,
             max(last_at) as last_at,
             max(application_game_id collate "C") as example
      from (${failuresOfCalls(sql, application_id)} order by last_at desc limit ${GROUPED_MAX}) as latest
      group by application_id, operation, kind, reasons
    ) g where true`,
      sort_by: sql`g.${sql(page.sort)}`,
      id: sql`concat_ws(' ', g.application_id, g.operation, g.kind, g.reasons)`,
    },
  );
