import type { Queryable } from '#db/client.ts';
import { applicationName } from '#db/queries/applications.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { where } from '#db/where.ts';
import type { RunOutcome } from '#src/contract/words.ts';

/** A run with the name of its application. */
export type RunItem = RunRow & { application_name: string };

export const RUN_SORTS = ['started_at', 'listed', 'inserted', 'updated', 'invalid', 'failed'] as const;
type RunFilter = {
  application_id?: string | undefined;
  /** `open`: runs that have not ended. */
  outcome?: RunOutcome | 'open' | undefined;
  since?: Date | undefined;
};

/** The latest run of the application `a` that has ended, to be joined. */
export const lastRun = (sql: Queryable) => sql`lateral (
  select * from sync_runs where application_id = a.application_id and finished_at is not null
  order by run_number desc limit 1)`;

/** Reads one page of the runs. */
export const listRunPage = (
  sql: Queryable,
  { application_id, outcome, since }: RunFilter,
  page: ListPage<(typeof RUN_SORTS)[number]>,
) =>
  readListPage<RunItem>(sql, page, {
    columns: sql`r.*, ${applicationName(sql, 'r')}`,
    // db/queries/api-games.ts explains the array and the leading column.
    from: sql`sync_runs r ${where(sql, [
      application_id !== undefined && sql`application_id = any (array[${application_id}])`,
      outcome && (outcome === 'open' ? sql`finished_at is null` : sql`outcome = ${outcome}`),
      since && sql`started_at >= ${since}`,
    ])}`,
    sort_by: page.sort === 'started_at' ? sql`r.run_number` : sql`r.${sql(page.sort)}`,
    id: sql`r.run_id`,
    ...(application_id !== undefined && page.sort === 'started_at' && { lead: sql`r.application_id` }),
  });
