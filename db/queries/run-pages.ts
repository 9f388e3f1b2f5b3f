import type { Queryable } from '#db/client.ts';
import type { PageRow, RunFence, RunRow } from '#db/queries/runs.ts';
import { firstRow, onlyRow, readColumn } from '#db/rows.ts';
import type { DetailCounts, ListingEnd } from '#src/contract/words.ts';
import { nextRunMs } from '#src/rules/address-lifetime.ts';
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
  // Not `= any(…)`: a generic plan then compares every game with every id, eight times as slow.
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

/** A game of a page; `list_hash` is "" when its row is invalid. */
export type NamedGame = { application_game_id: string; list_hash: string };

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
  /** What the page counts for in the budget of its listing. */
  listed_bytes: number;
};

/**
 * Records that the run's next page could not be read: the listing continues after it. It is no empty page, so the rules
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
      select run_id from sync_runs where run_id = ${run_id} and fence = ${fence} and finished_at is null for update
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
 * When a detail is fetched again: always; once it is older than this; after failures, and before its addresses end, by the
 * interval of the runs.
 */
export type DetailAge = { full: boolean; detailMaxAgeMs: number; everyMs: number };

const HOUR_MS = 60 * 60_000;
/** Longest wait before a failed detail is fetched again: one that fails for good, and one that may pass. */
const FINAL_WAIT_MAX_MS = 24 * HOUR_MS;
const PASSING_WAIT_MAX_MS = HOUR_MS;

/** What a page finds in the database. */
export type ComparedGames = Pick<PageRow, 'open_games' | 'unchanged' | 'invalid' | 'failed' | 'missing'> & {
  /** Games that are withdrawn or that the last listing did not name, by the platform's id. */
  absent: string[];
  /** Games whose row was invalid and is valid now. */
  resolved: string[];
};

const NOTHING: ComparedGames = {
  open_games: {},
  unchanged: 0,
  invalid: 0,
  failed: 0,
  missing: 0,
  absent: [],
  resolved: [],
};

/**
 * Compares the games of a page with what is stored. A detail is wanted of a game that is new, whose list entry changed,
 * whose detail is older than `detailMaxAgeMs` or failed, whose addresses end before the next run; with `full` of each. A
 * detail that keeps failing is fetched by the first, second, fourth … run, unless its list entry has changed; the other
 * runs count it as before.
 *
 * Each row is looked up separately (`lateral` with a limit): for a join, Postgres may read all games of the application,
 * 330 ms a page at 200,000 games.
 */
export const compareGames = async (
  sql: Queryable,
  application_id: string,
  named: readonly NamedGame[],
  age: DetailAge,
): Promise<ComparedGames> => {
  if (named.length === 0) return NOTHING;
  const ids = named.map((game) => game.application_game_id);
  const listHashes = named.map((game) => game.list_hash);
  return onlyRow(sql<ComparedGames[]>`
    with failing as materialized (
      select from ingest_failures
      where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail') limit 1
    ), states as materialized (
      select l.id, l.list_hash, g.game_id, g.absent, list.has_failed,
             detail.kind, detail.final, l.list_hash <> '' and detail.waits is true as waits,
             l.list_hash <> '' and detail.waits is not true and (${age.full} or g.game_id is null
               or g.list_hash <> l.list_hash or detail.failed is true
               or g.fetched_at < now() - ${age.detailMaxAgeMs} * interval '1 millisecond'
               or coalesce(g.addresses_end_at < now() + ${nextRunMs(age.everyMs)} * interval '1 millisecond', false)
             ) as wanted
      from unnest(${ids}::text[], ${listHashes}::text[]) as l(id, list_hash)
      left join lateral (
        select game_id, list_hash, fetched_at, addresses_end_at,
               coalesce(withdrawn_at, unlisted_at) is not null as absent
        from games
        where application_id = ${application_id} and application_game_id = l.id limit 1
      ) as g on true
      left join lateral (
        select true as failed, kind, final,
               not ${age.full} and count > 1 and kind not in ('not_requested', 'internal') and list_hash = l.list_hash
               and now() < last_at + interval '1 millisecond' * (
                 least(${age.everyMs}::bigint * 2::float8 ^ least(count - 1, 30),
                       case when final then ${FINAL_WAIT_MAX_MS}::int else ${PASSING_WAIT_MAX_MS}::int end)
                 - ${age.everyMs}::bigint / 2) as waits
        from ingest_failures
        where exists (select from failing) and application_id = ${application_id}
          and operation = 'query_game_detail' and application_game_id = l.id limit 1
      ) as detail on true
      left join lateral (
        select l.list_hash <> '' as has_failed from ingest_failures
        where exists (select from failing) and application_id = ${application_id}
          and operation = 'query_game_list' and application_game_id = l.id limit 1
      ) as list on true
    )
    select coalesce(jsonb_object_agg(id, list_hash) filter (where wanted), '{}') as open_games,
           (count(*) filter (where list_hash <> '' and not wanted and not waits))::int as unchanged,
           (count(*) filter (where list_hash = '' or waits and final and kind <> 'no_detail'))::int as invalid,
           (count(*) filter (where waits and not final))::int as failed,
           (count(*) filter (where waits and kind = 'no_detail'))::int as missing,
           coalesce(array_agg(game_id) filter (where absent), '{}') as absent,
           coalesce(array_agg(id) filter (where has_failed), '{}') as resolved
    from states`);
};

/**
 * Records pages that follow each other, in one statement under the run's fence, and moves the run past them. The run
 * stays locked until the transaction ends.
 * @returns the run; undefined when the fence is stale, or another job has recorded the first of them: then nothing was
 *   written
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
    with locked as (
      select run_id, next_page from sync_runs r join applications a using (application_id)
      where run_id = ${run_id} and fence = ${fence} and finished_at is null and a.status <> 'removed' for update of r
    ), due as (
      select run_id from locked where next_page = ${first.page_num}
    ), recorded as (
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, unnamed, open_games,
        listed, unchanged, invalid, failed, missing)
      select run_id, page_num, row_count, total, application_game_ids, unnamed, open_games,
             listed, unchanged, invalid, failed, missing
      from due, json_to_recordset(${JSON.stringify(pages)}::text::json) as p(
        page_num integer, row_count integer, total bigint, application_game_ids text[], unnamed integer,
        open_games jsonb, listed integer, unchanged integer, invalid integer, failed integer, missing integer)
    )
    update sync_runs
    set next_page = ${last.page_num + 1}, listing_end = ${listing_end}, progress_at = now(),
        row_count = row_count + ${sum((page) => page.row_count)},
        listed_bytes = listed_bytes + ${sum((page) => page.listed_bytes)},
        largest_page = greatest(largest_page, ${most((page) => page.row_count)}),
        total_first = coalesce(total_first, ${first.total}), total_last = ${last.total},
        total_max = greatest(total_max, ${most((page) => page.total)})
    where run_id in (select run_id from due)
    returning *`);
};

/** Restores games that a listing names again. */
export const restoreGames = async (tx: Queryable, game_ids: readonly string[]): Promise<void> => {
  if (game_ids.length === 0) return;
  await tx`
    update games set withdrawn_at = null, unlisted_at = null, updated_at = now()
    where game_id = any(${game_ids as string[]}::uuid[]) and coalesce(withdrawn_at, unlisted_at) is not null`;
};

/** A page under lock, and whether its application has failures of details. */
type LockedPage = Pick<PageRow, 'kind' | 'open_games'> &
  Pick<RunRow, 'application_id' | 'storable_games'> & { has_failures: boolean };

/**
 * Locks a run under its fence, and one page of it, until the transaction ends.
 * @returns undefined when the fence is stale, the run has no such page, or it has stored as much as it may
 */
export const lockRunPage = (tx: Queryable, { run_id, fence }: RunFence, page_num: number) =>
  // The page is locked too: a statement that waited for a lock reads newer versions of locked rows only.
  firstRow(tx<LockedPage[]>`
    select r.application_id, r.storable_games, p.kind, p.open_games, exists (
        select from ingest_failures f
        where f.application_id = r.application_id and f.operation = 'query_game_detail') as has_failures
    from sync_runs r join sync_run_pages p using (run_id) join applications a using (application_id)
    where r.run_id = ${run_id} and r.fence = ${fence} and r.finished_at is null and p.page_num = ${page_num}
      and a.status <> 'removed' and (r.storable_bytes is null or r.stored_bytes < r.storable_bytes)
    for update of r, p`);

/** Removes games from a page's open games and adds to its counters. The caller has locked the run. */
export const countDetails = async (
  sql: Queryable,
  run_id: string,
  page_num: number,
  application_game_ids: readonly string[],
  counts: DetailCounts & { answered: number; withdrawn?: number; stored_bytes?: number },
): Promise<void> => {
  // A batch without final results is no progress: a run that only waits is eventually abandoned.
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
    where run_id = ${run_id} and ${application_game_ids.length > 0}`;
};

/**
 * Finds what `isDetailWebhookDown` judges, after a page of which every call failed.
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
    select (select coalesce(sum(answered), 0)::int from sync_run_pages where run_id = ${run_id}) as answered,
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
      set failed = failed + (select count(*)::int from jsonb_object_keys(open_games)), open_games = '{}'
      where run_id = ${run_id} and kind = 'listed' and open_games <> '{}'::jsonb
    )
    select id from open`);
