import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { PageRow } from '#db/queries/runs.ts';

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

export const RUN_PAGE_SORTS = ['page_num'] as const;

/** Reads one page of the pages of a run. */
export const listRunPagePage = (
  sql: Queryable,
  { run_id }: { run_id: string },
  page: ListPage<(typeof RUN_PAGE_SORTS)[number]>,
) =>
  readListPage<RunPageItem>(sql, page, {
    columns: sql`
      page_num, kind, reason, row_count, listed, inserted, updated, unchanged, invalid, failed, missing, listed_at,
      (select count(*)::int from jsonb_object_keys(open_games)) as waiting`,
    from: sql`sync_run_pages where run_id = ${run_id}`,
    sort_by: sql`page_num`,
    id: sql`page_num`,
  });
