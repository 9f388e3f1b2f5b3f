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

/** A page of a run, for `insertPage`. */
export type NewPage = Pick<PageRow, 'page_num' | 'row_count' | 'total' | 'unnamed'> & {
  /** Games that no earlier page of the run named; `list_hash` is "" when the row is invalid. */
  named: readonly { application_game_id: string; list_hash: string }[];
  /** What the page counts for in the budget of its listing. */
  listed_bytes: number;
  listing_end: ListingEnd | null;
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

/**
 * Records a page under the run's fence, in one statement: the games whose detail is wanted
 * (new, list entry changed, older than `detailMaxAgeMs`, addresses that end before the next run, last detail failed, or
 * all with `full`), and where the run stands. A detail that keeps failing is fetched by the first, second, fourth … run,
 * unless its list entry has changed; the other runs count it as before. Withdrawn games are restored, and the failures
 * of rows that are valid now are deleted. The run stays locked until the transaction ends.
 *
 * Each row is looked up separately (`lateral` with a limit): for a join, Postgres may read all games of the application,
 * 330 ms a page at 200,000 games.
 * @returns the number of wanted details; `recorded` is false when the page was recorded before; undefined when the
 *   fence is stale: then nothing was written
 */
export const insertPage = async (
  sql: Queryable,
  { run_id, fence, application_id }: RunFence & { application_id: string },
  page: NewPage,
  age: DetailAge,
): Promise<{ recorded: boolean; wanted: number } | undefined> => {
  const ids = page.named.map((game) => game.application_game_id);
  const listHashes = page.named.map((game) => game.list_hash);
  const invalid = page.named.filter((game) => game.list_hash === '').length + page.unnamed;
  const [row] = await sql<{ locked: boolean; recorded: boolean; wanted: number }[]>`
    with locked as (
      select run_id from sync_runs r join applications a using (application_id)
      where run_id = ${run_id} and fence = ${fence} and finished_at is null and a.status <> 'removed' for update of r
    ), failing as materialized (
      select from ingest_failures
      where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail') limit 1
    ), states as materialized (
      select l.id, l.list_hash, g.game_id, g.absent, list.place as list_failure,
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
        select ctid as place from ingest_failures
        where exists (select from failing) and application_id = ${application_id}
          and operation = 'query_game_list' and application_game_id = l.id limit 1
      ) as list on true
    ), recorded as (
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, unnamed, open_games,
        listed, unchanged, invalid, failed, missing)
      select locked.run_id, ${page.page_num}, ${page.row_count}, ${page.total}, ${ids}::text[], ${page.unnamed},
             coalesce(open.games, '{}'), ${page.named.length + page.unnamed}, open.others,
             ${invalid} + open.invalid, open.failed, open.missing
      from locked, (
        select jsonb_object_agg(id, list_hash) filter (where wanted) as games,
               count(*) filter (where list_hash <> '' and not wanted and not waits) as others,
               count(*) filter (where waits and final and kind <> 'no_detail') as invalid,
               count(*) filter (where waits and not final) as failed,
               count(*) filter (where waits and kind = 'no_detail') as missing
        from states
      ) as open
      on conflict (run_id, page_num) do nothing
      returning run_id
    ), moved as (
      update sync_runs
      set next_page = ${page.page_num + 1}, listing_end = ${page.listing_end}, progress_at = now(),
          row_count = row_count + ${page.row_count}, listed_bytes = listed_bytes + ${page.listed_bytes}, largest_page = greatest(largest_page, ${page.row_count}),
          total_first = coalesce(total_first, ${page.total}), total_last = ${page.total},
          total_max = greatest(total_max, ${page.total})
      where run_id in (select run_id from recorded)
    ), restored as (
      update games set withdrawn_at = null, unlisted_at = null, updated_at = now()
      where game_id = any(array(select game_id from states where absent)) and exists (select from recorded)
    ), resolved as (
      delete from ingest_failures
      where ctid = any(array(select list_failure from states where list_failure is not null and list_hash <> ''))
        and exists (select from recorded)
    )
    select exists (select from locked) as locked, exists (select from recorded) as recorded,
           (select count(*)::integer from states where wanted) as wanted`;
  return row?.locked === true ? { recorded: row.recorded, wanted: row.wanted } : undefined;
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
