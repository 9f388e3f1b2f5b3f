import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import type { syncRunPages, syncRuns } from '#db/schema/runs.ts';
import { where } from '#db/where.ts';
import { RUN_COUNTERS, type RunFault, type RunOutcome } from '#src/contract/words.ts';
import { COUNTED_MAX, STORAGE } from '#src/rules/budgets.ts';

export type RunRow = InferSelectModel<typeof syncRuns>;
export type PageRow = InferSelectModel<typeof syncRunPages>;

/** Identifies a run at one fence. It is stale once the run is closed or its fence is raised. */
export type RunFence = Pick<RunRow, 'run_id' | 'fence'>;

export type NewRun = Pick<RunRow, 'run_id' | 'application_id' | 'trigger' | 'full' | 'accept_withdrawals'>;

/**
 * Inserts a run with what it may still store, unless one of its application is open (a partial unique index allows one).
 * Waits for a removal of the application; `removeApplication` waits for this statement and then finds the run.
 * @param of `undelayed`: only for an active application that does not back off
 * @returns undefined if none was inserted
 */
export const insertRun = (sql: Queryable, run: NewRun, of: 'any' | 'undelayed' = 'any') =>
  firstRow(sql<RunRow[]>`
    insert into sync_runs (
      run_id, application_id, trigger, "full", accept_withdrawals, storable_bytes, storable_games)
    select ${run.run_id}, application_id, ${run.trigger}, ${run.full}, ${run.accept_withdrawals},
      ${STORAGE.bytesPerDay} - least(coalesce((
        select sum(stored_bytes) from sync_runs d
        where d.application_id = a.application_id and d.started_at between now() - interval '24 hours' and now()
          and d.stored_bytes > 0), 0), ${Number.MAX_SAFE_INTEGER}),
      ${STORAGE.games}
        - (select coalesce(sum(games), 0) from game_totals(a.application_id))
        - (select count(*) from games g where g.application_id = a.application_id and withdrawn_at is not null)
    from applications a
    where application_id = ${run.application_id} and status <> 'removed' and not exists (
      select from sync_runs r where r.application_id = a.application_id and finished_at is null)
      and (${of === 'any'} or (status = 'active' and next_attempt_at is null))
    for share of a
    on conflict (application_id) where finished_at is null do nothing
    returning *`);

export const findOpenRun = (sql: Queryable, application_id: string) =>
  firstRow(sql<RunRow[]>`
    select * from sync_runs where application_id = ${application_id} and finished_at is null`);

/** Locks the open run of an application until the transaction ends. */
export const lockOpenRun = (tx: Queryable, application_id: string) =>
  firstRow(tx<RunFence[]>`
    select run_id, fence from sync_runs where application_id = ${application_id} and finished_at is null for update`);

export const findRun = (sql: Queryable, run_id: string) =>
  firstRow(sql<RunRow[]>`select * from sync_runs where run_id = ${run_id}`);

/** Runs by id, in the order of their applications. */
export const findRuns = (sql: Queryable, run_ids: readonly string[]) =>
  sql<RunRow[]>`
    select * from sync_runs where run_id = any(${run_ids as string[]}::uuid[]) order by application_id`;

/** Is the page before the next one of run `r` there? A crash of Postgres empties the table of pages. */
export const hasPages = (sql: Queryable) => sql`
  (r.next_page = 1 or exists (
    select from sync_run_pages p where p.run_id = r.run_id and p.page_num = r.next_page - 1))`;

/**
 * Locks the run until the transaction ends, so that closing it and raising its fence wait.
 * @param of `removed`: also a run of a removed application, and one that lost its pages
 * @returns undefined if the fence is stale
 */
export const lockRun = (tx: Queryable, { run_id, fence }: RunFence, of: 'active' | 'removed' = 'active') =>
  firstRow(tx<RunRow[]>`
    select r.* from sync_runs r join applications a using (application_id)
    where r.run_id = ${run_id} and r.fence = ${fence} and r.finished_at is null
      and (${of === 'removed'} or (a.status <> 'removed' and ${hasPages(tx)}))
    for update of r`);

/**
 * Returns open runs without progress for `idleMs`, by id.
 * @param after the last id that the former call returned
 */
export const listIdleRuns = (sql: Queryable, idleMs: number, limit: number, after?: string) =>
  sql<RunRow[]>`
    select * from sync_runs
    ${where(sql, [
      sql`finished_at is null and progress_at < now() - ${idleMs} * interval '1 millisecond'`,
      after !== undefined && sql`run_id > ${after}`,
    ])}
    order by run_id limit ${limit}`;

/**
 * Raises the fence of a run that is still at this page, so that jobs of the former fence write nothing from now on.
 * @returns undefined when the fence is stale or the run has moved on
 */
export const raiseFence = (
  sql: Queryable,
  { run_id, fence, next_page }: Pick<RunRow, 'run_id' | 'fence' | 'next_page'>,
) =>
  firstRow(sql<RunRow[]>`
    update sync_runs set fence = fence % ${COUNTED_MAX} + 1
    where run_id = ${run_id} and fence = ${fence} and next_page = ${next_page} and finished_at is null
    returning *`);

/** When the closed run began, as a process reads it. */
const beganAt = (sql: Queryable) => sql`date_trunc('milliseconds', closed.started_at)`;
/** The same, unless the application was changed since, because the run may have compared its pages by another age of details. */
const dueAt = (sql: Queryable) =>
  sql`case when a.updated_at < closed.started_at then ${beganAt(sql)} else a.details_due_at end`;

/**
 * Closes a run with the sums of its pages, deletes those that found nothing changed, and empties the lists of the others. Its
 * withdrawals count as stored bytes. A complete listing has fetched what was due.
 * @param backoff what the run shows about its application. `success` and `suspect` clear the backoff, and a success is
 *   recorded; absent: the backoff stays
 * @returns the run, and with `backoff` whether failed runs have paused its application; undefined if the fence is stale
 */
export const closeRun = (
  sql: Queryable,
  { run_id, fence }: RunFence,
  verdict: {
    outcome: RunOutcome;
    reason: string | null;
    fault?: RunFault;
    note?: string | null;
    withdrawn?: number;
    isComplete?: boolean;
  },
  backoff?: 'success' | 'suspect',
) =>
  firstRow(sql<(RunRow & { is_paused: boolean | null })[]>`
    with sums as (
      select count(*) as pages ${RUN_COUNTERS.map(
        (name) => sql`, least(coalesce(sum(${sql(name)}), 0), ${COUNTED_MAX}) as ${sql(name)}`,
      )}
      from sync_run_pages where run_id = ${run_id}
    ), closed as (
      update sync_runs r
      set outcome = ${verdict.outcome}, reason = ${verdict.reason}, note = ${verdict.note ?? null},
          fault = ${verdict.fault ?? null}, finished_at = now(), progress_at = now(),
          listed = sums.listed, inserted = sums.inserted, updated = sums.updated, unchanged = sums.unchanged,
          invalid = sums.invalid, failed = sums.failed, missing = sums.missing,
          withdrawn = sums.withdrawn + ${verdict.withdrawn ?? 0},
          stored_bytes = least(${Number.MAX_SAFE_INTEGER},
            stored_bytes + ${STORAGE.bytesOfWithdrawal} * (sums.withdrawn + ${verdict.withdrawn ?? 0}))
      from sums
      where r.run_id = ${run_id} and r.fence = ${fence} and r.finished_at is null
      returning r.*
    ), deleted as (
      delete from sync_run_pages p using closed
      where p.run_id = closed.run_id and kind = 'listed' and p.unchanged = p.row_count
    ), emptied as (
      update sync_run_pages p set application_game_ids = '{}', open_games = '{}'
      from closed
      where p.run_id = closed.run_id and (kind <> 'listed' or p.unchanged <> p.row_count)
    ), cleared as (
      update applications a
      set failed_runs = 0, failing_since = null, next_attempt_at = null,
          last_success_at = case when ${backoff === 'success'} then now() else last_success_at end,
          details_due_at = case when ${verdict.isComplete ?? false} then ${dueAt(sql)} else details_due_at end,
          details_full_at = case when ${verdict.isComplete ?? false} and "full" then ${beganAt(sql)} else details_full_at end
      from closed
      where a.application_id = closed.application_id and ${backoff !== undefined}
      returning a.status = 'paused' and a.pause_reason is not null as is_paused
    )
    select closed.*, (select is_paused from cleared) as is_paused from closed`);

/** The counts of a listing in which nothing changed. */
export type UnchangedListing = Pick<RunRow, 'next_page' | 'listed' | 'largest_page' | 'listed_bytes'>;

/**
 * Closes a run as succeeded whose only job listed the whole catalogue and found nothing changed: as many games as are
 * stored, all of them with the hashes that are stored. No page is recorded.
 * @returns the run; undefined when the fence is stale or a page is recorded, when other games, failures or games of a
 * suspect run of the application are stored, or when it is not active; nothing was then written
 */
export const closeUnchanged = (
  sql: Queryable,
  { run_id, fence, application_id }: RunFence & { application_id: string },
  { next_page, listed, largest_page, listed_bytes }: UnchangedListing,
) =>
  firstRow(sql<RunRow[]>`
    with closed as (
      update sync_runs
      set outcome = 'succeeded', listing_end = 'complete', next_page = ${next_page}, row_count = ${listed},
          largest_page = ${largest_page}, total_first = ${listed}, total_last = ${listed}, total_max = ${listed},
          listed = ${listed}, unchanged = ${listed}, listed_bytes = ${listed_bytes}, note = null,
          finished_at = now(), progress_at = now()
      where run_id = ${run_id} and fence = ${fence} and next_page = 1 and finished_at is null
        and ${listed} = (select coalesce(sum(games), 0) from game_totals(${application_id}))
        and not exists (
          select from ingest_failures
          where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail'))
        -- The table is empty most of the time: then no run of the application is read.
        and not (exists (select from vanishing_games) and exists (
          select from sync_runs suspect
          where suspect.application_id = ${application_id} and suspect.outcome = 'suspect'
            and exists (select from vanishing_games v where v.run_id = suspect.run_id)))
        and exists (select from applications where application_id = ${application_id} and status = 'active')
      returning *
    ), cleared as (
      update applications a
      set failed_runs = 0, failing_since = null, next_attempt_at = null, last_success_at = now(),
          details_due_at = ${dueAt(sql)}
      from closed where a.application_id = closed.application_id
    )
    select * from closed`);

/** Appends to the reason of a closed run. */
export const addReason = (sql: Queryable, run_id: string, text: string) =>
  firstRow(sql<RunRow[]>`
    update sync_runs set reason = reason || ${text} where run_id = ${run_id} returning *`);

/** The open runs, and when the oldest of them started. */
export const countOpenRuns = (sql: Queryable) =>
  onlyRow(sql<{ open_runs: number; oldest_open_run: Date | null }[]>`
    select count(*)::int as open_runs, min(started_at) as oldest_open_run from sync_runs where finished_at is null`);

/** The key of a page. */
export type PageKey = Pick<PageRow, 'run_id' | 'page_num'>;
export const BEFORE_ALL_PAGES: PageKey = { run_id: '00000000-0000-0000-0000-000000000000', page_num: 0 };

/**
 * Deletes the pages of runs that finished more than `ageMs` ago, or are gone. One call reads the `limit` pages after
 * `after`, so that successive calls read every page once.
 * @returns the number of deleted pages, and the last page that was read: undefined when there was none
 */
export const prunePages = async (
  sql: Queryable,
  ageMs: number,
  limit: number,
  after: PageKey,
): Promise<{ deleted: number; last: PageKey | undefined }> => {
  const [row] = await sql<(PageKey & { deleted: number })[]>`
    with batch as materialized (
      select run_id, page_num from sync_run_pages
      where (run_id, page_num) > (${after.run_id}, ${after.page_num})
      order by run_id, page_num limit ${limit}
    ), kept as materialized (
      select run_id from sync_runs
      where run_id = any(array(select distinct run_id from batch))
        and (finished_at is null or finished_at >= now() - ${ageMs} * interval '1 millisecond')
    ), deleted as (
      delete from sync_run_pages p using batch
      where p.run_id = batch.run_id and p.page_num = batch.page_num
        and not exists (select from kept where kept.run_id = batch.run_id)
      returning 1
    )
    select run_id, page_num, (select count(*)::int from deleted) as deleted
    from batch order by run_id desc, page_num desc limit 1`;
  return { deleted: row?.deleted ?? 0, last: row && { run_id: row.run_id, page_num: row.page_num } };
};
