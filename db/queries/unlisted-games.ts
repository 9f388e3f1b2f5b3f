import type { Queryable } from '#db/client.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { countRows, firstRow, onlyRow } from '#db/rows.ts';
import { PAGE_SIZE_MAX } from '#src/contract/application.ts';
import type { FinishedListing } from '#src/rules/outcome.ts';

/** The facts of a listing that come from its pages and the application's games. The others are in the run's row. */
export type ListingSums = Omit<FinishedListing, 'end' | 'acceptWithdrawals'> & {
  /** Games that the run has changed. */
  updated: number;
  /** Pages of unlisted games. */
  unlistedPages: number;
  /** Do details of the run still wait? */
  hasOpenGames: boolean;
  /** `hasFailures`: the application has failures of listed games. `hasVanishing`: some application has games of a suspect run. */
  hasFailures: boolean;
  hasVanishing: boolean;
};

/**
 * Sums up a listing for its verdict.
 *
 * Games that suspect runs inserted since the last success are not established, and games that this run inserted are not
 * present, so neither raises the number of withdrawals that is allowed. A game that two pages named, because it moved while
 * the list was read, counts once. Grouped by id, as in `unlistedGames`.
 */
export const summariseListing = (sql: Queryable, run_id: string, application_id: string) =>
  onlyRow(sql<ListingSums[]>`
    with pages as (
      select coalesce(sum(unnamed), 0)::int as unnamed, coalesce(sum(invalid), 0)::int as invalid,
             coalesce(sum(failed), 0)::int as failed, coalesce(sum(missing), 0)::int as missing,
             coalesce(sum(updated), 0)::int as updated,
             -- Of the last page with rows; of the last page, if games were added after the rows were read.
             coalesce(greatest(
               (array_agg(total order by row_count > 0 desc, page_num desc) filter (where kind = 'listed'))[1],
               (array_agg(total order by page_num desc) filter (where kind = 'listed'))[1]), 0) as total,
             (count(*) filter (where row_count = 0 and kind = 'listed' and page_num < (
               select max(page_num) from sync_run_pages where run_id = ${run_id} and row_count > 0)))::int
               as "emptyPages",
             coalesce(array_agg(reason order by page_num) filter (where kind = 'unread'), '{}') as unread,
             (count(*) filter (where kind = 'unlisted'))::int as "unlistedPages",
             coalesce(bool_or(open_games <> '{}'::jsonb), false) as "hasOpenGames"
      from sync_run_pages where run_id = ${run_id}
    ), baseline as (
      select least(a.last_success_at, r.started_at) as at, r.started_at
      from sync_runs r join applications a using (application_id) where r.run_id = ${run_id}
    ), each as (
      select max(created_at) as came_at, count(*) = count(created_at) as unlisted, count(*) > count(created_at) as listed
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
             (count(*) filter (where came_at <= least(started_at, baseline.at) and unlisted))::int as lost,
             (count(*) filter (where listed))::int as listed
      from each, baseline
    )
    select pages.*, counted.*,
           case when r.total_first = r.total_last then greatest(0, r.row_count - pages.unnamed - counted.listed)
           else 0 end as repeats,
           exists (
             select from ingest_failures
             where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail')
           ) as "hasFailures",
           exists (select from vanishing_games) as "hasVanishing"
    from pages, counted, sync_runs r where r.run_id = ${run_id}`);

/**
 * Games that existed when the run began and that no page of it named.
 *
 * Grouped by id, in one pass under any plan. For a join or `not exists`, Postgres may compare every game with every
 * other while its tables are not analyzed: 10 s for 20,000 games.
 */
const unlistedGames = (sql: Queryable, run_id: string, application_id: string) => sql`
  select id, max(game_id::text)::uuid as game_id, max(unlisted_at) as unlisted_at
  from (
    select application_game_id as id, game_id, unlisted_at from games
    where application_id = ${application_id} and withdrawn_at is null
      and created_at <= (select started_at from sync_runs where run_id = ${run_id})
    union all
    select unnest(application_game_ids), null, null from sync_run_pages where run_id = ${run_id}
  ) as each
  group by id
  having count(*) = count(game_id)`;

/**
 * Adds pages of unlisted games to a run whose listing is complete, and moves the run past the first of them.
 * @param isComplete whether to leave out games that an earlier complete listing did not name either
 * @returns the run; undefined when there is no such game
 */
export const insertUnlistedPages = (
  tx: Queryable,
  { run_id, application_id, next_page }: RunRow,
  isComplete: boolean,
) =>
  firstRow(tx<RunRow[]>`
    with inserted as (
      insert into sync_run_pages (run_id, page_num, kind, row_count, total, application_game_ids, open_games)
      select ${run_id}, ${next_page} + page, 'unlisted', 0, 0, '{}', jsonb_object_agg(id, '')
      from (
        select id, ((row_number() over (order by id) - 1) / ${PAGE_SIZE_MAX})::int as page
        from (${unlistedGames(tx, run_id, application_id)}) as unlisted
        where unlisted_at is null or not ${isComplete}
      ) as numbered
      group by page
      returning run_id
    )
    update sync_runs set next_page = next_page + 1, progress_at = now()
    where run_id in (select run_id from inserted)
    returning *`);

/**
 * Moves a run past its next page of unlisted games.
 * @returns the run; undefined when there is no such page, or no call of the page before it was answered
 */
export const moveToUnlistedPage = (tx: Queryable, run_id: string) =>
  firstRow(tx<RunRow[]>`
    update sync_runs r set next_page = r.next_page + 1, progress_at = now()
    from sync_run_pages verified, sync_run_pages next
    where r.run_id = ${run_id}
      and verified.run_id = r.run_id and verified.page_num = r.next_page - 1 and verified.answered > 0
      and next.run_id = r.run_id and next.page_num = r.next_page and next.kind = 'unlisted'
    returning r.*`);

/** Forgets the games of suspect runs of an application, because a later run shows better which games are gone. */
export const forgetVanishingGames = async (tx: Queryable, application_id: string) => {
  await tx`
    delete from vanishing_games
    where run_id = any(array(select run_id from sync_runs where application_id = ${application_id}))`;
};

/**
 * Records the games that a suspect run did not name and that it did not withdraw, instead of those of an earlier run,
 * because an operator looks at them.
 */
export const recordVanishingGames = async (tx: Queryable, run_id: string, application_id: string) => {
  await forgetVanishingGames(tx, application_id);
  await tx`
    insert into vanishing_games (run_id, game_id)
    select ${run_id}, game_id from (${unlistedGames(tx, run_id, application_id)}) as unlisted`;
};

/** Withdraws games of an unlisted page, unless their detail was fetched since. @returns their number */
export const withdrawConfirmed = async (
  tx: Queryable,
  { run_id, page_num, application_id }: { run_id: string; page_num: number; application_id: string },
  application_game_ids: readonly string[],
): Promise<number> => {
  if (application_game_ids.length === 0) return 0;
  return countRows(tx`
    update games g set withdrawn_at = now(), updated_at = now()
    from sync_run_pages p
    where p.run_id = ${run_id} and p.page_num = ${page_num} and g.application_id = ${application_id}
      and g.application_game_id in (select unnest(${application_game_ids as string[]}::text[]))
      and g.withdrawn_at is null and g.fetched_at <= p.listed_at`);
};

/**
 * After a complete listing, withdraws the games that the complete listing before it did not name either, and marks the
 * other unlisted games.
 */
export const withdrawOrMark = (tx: Queryable, run_id: string, application_id: string) =>
  onlyRow(tx<{ withdrawn: number; kept: number }[]>`
    with missed as (
      update games
      set withdrawn_at = case when unlisted_at is not null then now() end, unlisted_at = coalesce(unlisted_at, now()),
          updated_at = case when unlisted_at is null then updated_at else now() end
      where withdrawn_at is null and game_id = any(array(
        select game_id from (${unlistedGames(tx, run_id, application_id)}) as unlisted))
      returning withdrawn_at
    )
    select count(withdrawn_at)::int as withdrawn, (count(*) - count(withdrawn_at))::int as kept from missed`);

/** Withdraws the games that no page of a complete run named. @returns their number */
export const withdrawUnlisted = (sql: Queryable, run_id: string, application_id: string): Promise<number> =>
  countRows(sql`
    update games set withdrawn_at = now(), updated_at = now()
    where withdrawn_at is null and game_id = any(array(
      select game_id from (${unlistedGames(sql, run_id, application_id)}) as games_unlisted))`);

/** After a complete run, deletes the failures of games that it did not name, and of rows without a game if every row had one. */
export const clearUnlistedFailures = async (sql: Queryable, run_id: string, application_id: string) => {
  // Grouped as in `unlistedGames`. Deleted by `ctid`, because for a join, Postgres may read all failures of the
  // application.
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

/** Withdraws every game of an application that was removed. */
export const withdrawAllGames = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`
    update games set withdrawn_at = now(), updated_at = now()
    where application_id = ${application_id} and withdrawn_at is null`;
};
