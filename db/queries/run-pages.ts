import type { Queryable } from '#db/client.ts';
import { hasPages, type PageRow, type RunFence, type RunRow } from '#db/queries/runs.ts';
import { firstRow, onlyRow, readColumn } from '#db/rows.ts';
import type { DetailCounts, ListingEnd } from '#src/contract/words.ts';
import { COUNTED_MAX } from '#src/rules/budgets.ts';
import type { DetailEvidence } from '#src/rules/down.ts';

/**
 * Finds which of these games an earlier page of the run named. Reads the whole run: 0.1 to 0.3 s after 20,000 pages of
 * 100 games.
 */
export const selectNamedBefore = async (
  sql: Queryable,
  run_id: string,
  page_num: number,
  application_game_ids: readonly string[],
): Promise<Set<string>> => {
  // Not `= any(…)`, because a generic plan then compares every game with every id, eight times as slow.
  const rows = await sql<{ id: string }[]>`
    select distinct named.id
    from sync_run_pages p, unnest(p.application_game_ids) as named(id)
    where p.run_id = ${run_id} and p.page_num < ${page_num}
      and named.id in (select unnest(${application_game_ids as string[]}::text[]))`;
  return new Set(rows.map((row) => row.id));
};

export const findPage = (sql: Queryable, run_id: string, page_num: number) =>
  firstRow(sql<PageRow[]>`
    select * from sync_run_pages where run_id = ${run_id} and page_num = ${page_num}`);

/** A page that was compared, for `insertPages`. */
export type NewPage = Pick<
  PageRow,
  | 'page_num'
  | 'row_count'
  | 'total'
  | 'unnamed'
  | 'application_game_ids'
  | 'open_games'
  | 'listed'
  | 'unchanged'
  | 'invalid'
  | 'failed'
  | 'missing'
> & {
  /** The bytes of the page in the budget of its listing. */
  listed_bytes: number;
};

/**
 * Records that the run's next page could not be read. The listing continues after it. It is no empty page, so the rules
 * that end a listing ignore it.
 * @param reason `page 3: not_utf8`
 * @returns the run at its next page; undefined when the fence is stale or the page is recorded already
 */
export const insertUnreadPage = (
  sql: Queryable,
  { run_id, fence, next_page }: RunRow,
  reason: string,
  listing_end: ListingEnd | null,
) =>
  firstRow(sql<RunRow[]>`
    with locked as (
      select run_id from sync_runs r
      where run_id = ${run_id} and fence = ${fence} and finished_at is null and ${hasPages(sql)} for update
    ), recorded as (
      insert into sync_run_pages (run_id, page_num, kind, reason, row_count, total, application_game_ids, open_games)
      select run_id, ${next_page}, 'unread', ${reason}, 0, 0, '{}', '{}' from locked
      on conflict (run_id, page_num) do nothing
      returning run_id
    )
    update sync_runs
    set next_page = ${next_page + 1}, listing_end = ${listing_end}, progress_at = now()
    where run_id in (select run_id from recorded)
    returning *`);

/**
 * Records pages that follow each other, in one statement under the run's fence, and moves the run past them. The run stays
 * locked until the transaction ends.
 * @returns the run; undefined when the fence is stale, or another job has recorded the first of them, or the pages before
 * it are lost; nothing was then written
 */
export const insertPages = (
  sql: Queryable,
  { run_id, fence }: RunFence,
  pages: readonly NewPage[],
  listing_end: ListingEnd | null,
) => {
  const sum = (of: (page: NewPage) => number) => pages.reduce((total, page) => total + of(page), 0);
  const most = (of: (page: NewPage) => number) => Math.max(...pages.map(of));
  const [first, last] = [pages[0], pages.at(-1)];
  if (first === undefined || last === undefined) throw new Error('there is no page to record');
  return firstRow(sql<RunRow[]>`
    with moved as (
      update sync_runs r
      set next_page = ${last.page_num + 1}, listing_end = ${listing_end}, progress_at = now(),
          row_count = row_count + ${sum((page) => page.row_count)},
          listed_bytes = listed_bytes + ${sum((page) => page.listed_bytes)},
          largest_page = greatest(largest_page, ${most((page) => page.row_count)}),
          total_first = coalesce(total_first, ${first.total}), total_last = ${last.total},
          total_max = greatest(total_max, ${most((page) => page.total)})
      from applications a
      where run_id = ${run_id} and fence = ${fence} and finished_at is null and next_page = ${first.page_num}
        and a.application_id = r.application_id and a.status <> 'removed' and ${hasPages(sql)}
      returning r.*
    ), recorded as (
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, unnamed, open_games,
        listed, unchanged, invalid, failed, missing)
      select run_id, page_num, p.row_count, total, application_game_ids, unnamed, open_games,
             p.listed, p.unchanged, p.invalid, p.failed, p.missing
      from moved, json_to_recordset(${JSON.stringify(pages)}::text::json) as p(
        page_num integer, row_count integer, total bigint, application_game_ids text[], unnamed integer,
        open_games jsonb, listed integer, unchanged integer, invalid integer, failed integer, missing integer)
    )
    select * from moved`);
};

/** Restores games that a listing names again. */
export const restoreGames = async (tx: Queryable, game_ids: readonly string[]): Promise<void> => {
  if (game_ids.length === 0) return;
  await tx`
    update games set withdrawn_at = null, unlisted_at = null, updated_at = now()
    where game_id = any(${game_ids as string[]}::uuid[]) and coalesce(withdrawn_at, unlisted_at) is not null`;
};

/** After this many intervals, a complete run of an application no longer says how old details are. */
const DUE_KNOWN_RUNS = 4;

/** A page under lock, whether its application has failures of details, and whether its row says how old details are. */
type LockedPage = Pick<PageRow, 'kind' | 'open_games'> &
  Pick<RunRow, 'application_id' | 'storable_games'> & { has_failures: boolean; keeps_ages: boolean };

/**
 * Locks a run under its fence, and one page of it, until the transaction ends.
 * @returns undefined when the fence is stale, the run has no such page, or it has stored as much as it may
 */
export const lockRunPage = (tx: Queryable, { run_id, fence }: RunFence, page_num: number) =>
  // The page is locked too, because a statement that waited for a lock reads newer versions of locked rows only.
  firstRow(tx<LockedPage[]>`
    select r.application_id, r.storable_games, p.kind, p.open_games, exists (
        select from ingest_failures f
        where f.application_id = r.application_id and f.operation = 'query_game_detail') as has_failures,
      coalesce(
        a.details_due_at > now() - ${DUE_KNOWN_RUNS} * a.every_ms * interval '1 millisecond', false) as keeps_ages
    from sync_runs r join sync_run_pages p using (run_id) join applications a using (application_id)
    where r.run_id = ${run_id} and r.fence = ${fence} and r.finished_at is null and p.page_num = ${page_num}
      and a.status <> 'removed' and (r.storable_bytes is null or r.stored_bytes < r.storable_bytes)
    for update of r, p`);

/** A run's row is written at most this often only to record progress, so its time of progress is this exact. */
const PROGRESS_STEP_MS = 10_000;

/** Removes games from a page's open games and adds to its counters. The caller has locked the run. */
export const countDetails = async (
  sql: Queryable,
  run_id: string,
  page_num: number,
  application_game_ids: readonly string[],
  counts: DetailCounts & { answered: number; withdrawn?: number; stored_bytes?: number },
): Promise<void> => {
  // A batch without final results is no progress, so a run that only waits is eventually abandoned.
  await sql`
    with page as (
      update sync_run_pages
      set open_games = open_games - ${application_game_ids as string[]}::text[],
          inserted = inserted + ${counts.inserted}, updated = updated + ${counts.updated},
          unchanged = unchanged + ${counts.unchanged}, invalid = invalid + ${counts.invalid},
          failed = failed + ${counts.failed}, missing = missing + ${counts.missing},
          answered = answered + ${counts.answered}, withdrawn = withdrawn + ${counts.withdrawn ?? 0}
      where run_id = ${run_id} and page_num = ${page_num}
    )
    update sync_runs set progress_at = now(), stored_bytes = stored_bytes + ${counts.stored_bytes ?? 0},
      storable_games = storable_games - ${counts.inserted}
    where run_id = ${run_id} and ${application_game_ids.length > 0}
      and (${counts.inserted + (counts.stored_bytes ?? 0) > 0}
        or progress_at < now() - ${PROGRESS_STEP_MS} * interval '1 millisecond')`;
};

/**
 * Reads the counts that `isDetailWebhookDown` judges, after a page of which every call failed.
 * @param application_game_ids the games of that page: those without an earlier failure count as newly failed, like the
 *   games that began to fail on the run's other pages
 */
export const findDetailEvidence = (
  sql: Queryable,
  run_id: string,
  application_game_ids: readonly string[],
) => {
  const ids = application_game_ids as string[];
  return onlyRow(sql<DetailEvidence[]>`
    with failures as (
      select f.application_game_id as id, f.first_at >= r.started_at as is_new
      from sync_runs r join ingest_failures f using (application_id)
      where r.run_id = ${run_id} and f.operation = 'query_game_detail'
    )
    select (select coalesce(sum(answered), 0)::float8 from sync_run_pages where run_id = ${run_id}) as answered,
           (select count(*)::int from unnest(${ids}::text[]) as wanted(id)
            where id not in (select id from failures where not is_new))
           + (select count(*)::int from failures
              where is_new and id not in (select unnest(${ids}::text[]))) as "newlyFailed"`);
};

/** Counts the open games of all listed pages of the run as failed. @returns their ids */
export const failOpenGames = (sql: Queryable, run_id: string) =>
  readColumn(sql<{ id: string }[]>`
    with open as materialized (
      select jsonb_object_keys(open_games) as id from sync_run_pages
      where run_id = ${run_id} and kind = 'listed' and open_games <> '{}'::jsonb
    ), failed as (
      update sync_run_pages
      set failed = least(failed, ${COUNTED_MAX}) + (select count(*)::int from jsonb_object_keys(open_games)), open_games = '{}'
      where run_id = ${run_id} and kind = 'listed' and open_games <> '{}'::jsonb
    )
    select id from open`);

/** Sums the counters of an open run, for its progress. */
export const sumPages = (sql: Queryable, run_id: string) =>
  onlyRow(sql<{ listed: number; written: number; total: number }[]>`
    select coalesce(sum(p.listed), 0)::float8 as listed,
           coalesce(sum(p.inserted::bigint + p.updated + p.unchanged + p.invalid + p.failed + p.missing), 0)::float8 as written,
           coalesce((select total_last from sync_runs where run_id = ${run_id}), 0)::bigint as total
    from sync_run_pages p where p.run_id = ${run_id}`);
