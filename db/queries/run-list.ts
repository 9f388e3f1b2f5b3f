import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRunId, type RunRow } from '#db/queries/runs.ts';
import { where } from '#db/where.ts';
import type { RunOutcome } from '#src/contract/words.ts';

export const RUN_SORTS = ['started_at', 'listed', 'inserted', 'updated', 'invalid', 'failed'] as const;
type RunFilter = {
  application_id?: string | undefined;
  /** `open`: runs that have not ended. */
  outcome?: RunOutcome | 'open' | undefined;
  since?: Date | undefined;
};

/** The id of a run is this much older than its `started_at`, at most: the clocks of processes differ. */
const CLOCKS_DIFFER_MS = 60 * 60_000;

/** Reads one page of the runs. */
export const listRunPage = (
  sql: Queryable,
  { application_id, outcome, since }: RunFilter,
  page: ListPage<(typeof RUN_SORTS)[number]>,
) =>
  readListPage<RunRow>(sql, page, {
    columns: sql`r.*`,
    // The array and the leading column: db/queries/api-games.ts explains both.
    from: sql`sync_runs r ${where(sql, [
      application_id !== undefined && sql`application_id = any (array[${application_id}])`,
      outcome && (outcome === 'open' ? sql`finished_at is null` : sql`outcome = ${outcome}`),
      since && sql`started_at >= ${since} and run_id >= ${firstRunId(since.getTime() - CLOCKS_DIFFER_MS)}`,
    ])}`,
    // Run ids are UUIDs of version 7: the primary key has the order of the starts.
    sort_by: page.sort === 'started_at' ? sql`r.run_id` : sql`r.${sql(page.sort)}`,
    id: sql`r.run_id`,
    ...(application_id !== undefined && page.sort === 'started_at' && { lead: sql`r.application_id` }),
  });
