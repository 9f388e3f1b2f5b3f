import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { RunOutcome } from '#src/contract/words.ts';

export const RUN_SORTS = ['started_at', 'listed', 'inserted', 'updated', 'invalid', 'failed'] as const;
type RunFilter = {
  application_id?: string | undefined;
  /** `open`: runs that have not ended. */
  outcome?: RunOutcome | 'open' | undefined;
  since?: Date | undefined;
};

export const listRunPage = (
  sql: Queryable,
  { application_id, outcome, since }: RunFilter,
  page: ListPage<(typeof RUN_SORTS)[number]>,
) =>
  readListPage<RunRow>(sql, page, {
    columns: sql`r.*`,
    from: sql`sync_runs r
      where ${application_id === undefined ? sql`true` : sql`application_id = ${application_id}`}
        and ${outcome === undefined ? sql`true` : outcome === 'open' ? sql`finished_at is null` : sql`outcome = ${outcome}`}
        and ${since === undefined ? sql`true` : sql`started_at >= ${since}`}`,
    // Run ids are UUIDs of version 7: the primary key has the order of the starts.
    sort_by: page.sort === 'started_at' ? sql`r.run_id` : sql`r.${sql(page.sort)}`,
    id: sql`r.run_id`,
  });
