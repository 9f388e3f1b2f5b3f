import type { Queryable } from '#db/client.ts';
import type { FinishedListing } from '#src/rules/outcome.ts';

/** The facts of a listing that its pages and the application's games hold; the run's row holds the others. */
export type ListingSums = Omit<
  FinishedListing,
  'end' | 'totalFirst' | 'totalLast' | 'totalMax' | 'acceptWithdrawals'
>;

/**
 * Sum up a listing for its verdict.
 *
 * Games of suspect runs since the last run that came through are not established, and games of this run are not
 * present: neither makes room for withdrawals. Grouped by id, for the reason of `unlistedGames`.
 */
export const summariseListing = async (
  sql: Queryable,
  run_id: string,
  application_id: string,
): Promise<ListingSums> => {
  const rows = await sql<ListingSums[]>`
    with pages as (
      select coalesce(sum(cardinality(application_game_ids)), 0)::int as listed,
             coalesce(sum(unnamed), 0)::int as unnamed, coalesce(sum(invalid), 0)::int as invalid,
             coalesce(sum(failed), 0)::int as failed,
             coalesce(min(total) filter (where row_count > 0) < max(total) filter (where row_count > 0), false)
               as "totalChanged",
             (count(*) filter (where row_count = 0 and kind = 'listed' and page_num < (
               select max(page_num) from sync_run_pages where run_id = ${run_id} and row_count > 0)))::int
               as "emptyPages",
             coalesce(array_agg(reason order by page_num) filter (where kind = 'unread'), '{}') as unread
      from sync_run_pages where run_id = ${run_id}
    ), baseline as (
      select coalesce(a.last_success_at, r.started_at) as at, r.started_at
      from sync_runs r join applications a using (application_id) where r.run_id = ${run_id}
    ), each as (
      select max(created_at) as came_at, count(*) = count(created_at) as unlisted
      from (
        select application_game_id as id, created_at from games
        where application_id = ${application_id} and withdrawn_at is null
        union all
        select unnest(application_game_ids), null from sync_run_pages where run_id = ${run_id}
      ) as known
      group by id
    ), counted as (
      select (count(*) filter (where came_at <= baseline.at))::int as established,
             (count(*) filter (where came_at <= started_at))::int as present,
             (count(*) filter (where came_at <= started_at and unlisted))::int as unlisted,
             (count(*) filter (where came_at <= least(started_at, baseline.at) and unlisted))::int as lost
      from each, baseline
    )
    select * from pages, counted`;
  const row = rows[0];
  if (row === undefined) throw new Error('an aggregate without a group always has one row');
  return row;
};

/**
 * Games that existed when the run began and that no page of it named.
 *
 * Grouped by id, in one pass under any plan. For a join or `not exists`, Postgres may compare every game with every
 * other while its tables are not analyzed: 10 s for 20,000 games.
 */
const unlistedGames = (sql: Queryable, run_id: string, application_id: string) => sql`
  select max(game_id::text)::uuid as game_id
  from (
    select application_game_id as id, game_id from games
    where application_id = ${application_id} and withdrawn_at is null
      and created_at <= (select started_at from sync_runs where run_id = ${run_id})
    union all
    select unnest(application_game_ids), null from sync_run_pages where run_id = ${run_id}
  ) as each
  group by id
  having count(*) = count(game_id)`;

/** Withdraw the games that no page of a complete run named. @returns their number */
export const withdrawUnlisted = async (
  sql: Queryable,
  run_id: string,
  application_id: string,
): Promise<number> => {
  const result = await sql`
    update games set withdrawn_at = now(), updated_at = now()
    where withdrawn_at is null and game_id = any(array(
      select game_id from (${unlistedGames(sql, run_id, application_id)}) as games_unlisted))`;
  return result.count;
};

/**
 * After a complete run, delete the failures of games that it did not name, and of rows without a game if every row had
 * one.
 */
export const clearUnlistedFailures = async (
  sql: Queryable,
  run_id: string,
  application_id: string,
): Promise<void> => {
  // Grouped for the reason of `unlistedGames`, and deleted by `ctid` for that of `insertPage`.
  await sql`
    delete from ingest_failures where ctid = any(array(
      select unnest(array_agg(place))
      from (
        select application_game_id as id, ctid as place from ingest_failures
        where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail')
          and (application_game_id <> '' or not exists (
            select from sync_run_pages where run_id = ${run_id} and unnamed > 0))
        union all
        select unnest(application_game_ids), null from sync_run_pages
        where run_id = ${run_id} and exists (select from ingest_failures where application_id = ${application_id})
      ) as each
      group by id
      having count(*) = count(place)))`;
};
