import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { countRows, firstRow } from '#db/rows.ts';
import { where } from '#db/where.ts';
import { RUN_COUNTERS, type RunCounts, type RunOutcome } from '#src/contract/words.ts';
import { COUNTED_MAX } from '#src/rules/budgets.ts';

/** The number of newest runs of an application that are kept at any age. The newest of each outcome is kept too. */
const RUNS_KEPT = 20;

/** The place of a run in the order in which runs finished. The time is text, because a Date has no microseconds. */
export type FinishedRun = { finished_at: string; run_id: string };
export const BEFORE_ALL_RUNS: FinishedRun = {
  finished_at: '-infinity',
  run_id: '00000000-0000-0000-0000-000000000000',
};

/** The counters of a run as further columns. */
const counters = (sql: Queryable) => RUN_COUNTERS.map((name) => sql`, ${sql(name)}`);

/**
 * Adds runs that finished more than `ageMs` ago to the sums of their days, and deletes them. The newest runs of each
 * application stay, and runs that still have pages. One call reads the `limit` runs after `after`, so that successive calls
 * read every run once.
 *
 * Each run is looked up by itself (`lateral` with a limit), because for `exists`, Postgres may read the newer runs of every
 * application.
 * @returns the number of deleted runs, and the last run that was read: undefined when there was none
 */
export const pruneRuns = async (
  sql: Queryable,
  ageMs: number,
  limit: number,
  after: FinishedRun,
): Promise<{ deleted: number; last: FinishedRun | undefined }> => {
  const row = await firstRow(sql<(FinishedRun & { deleted: number })[]>`
    with batch as materialized (
      select run_id, run_number, application_id, outcome, finished_at from sync_runs
      where finished_at < now() - ${ageMs} * interval '1 millisecond'
        and (finished_at, run_id) > (${after.finished_at}::text::timestamptz, ${after.run_id}::uuid)
      order by finished_at, run_id limit ${limit}
    ), old as materialized (
      select b.run_id from batch b cross join lateral (
        select from sync_runs n where n.application_id = b.application_id and n.run_number > b.run_number
        offset ${RUNS_KEPT - 1} limit 1
      ) as newer cross join lateral (
        select from sync_runs n
        where n.application_id = b.application_id and n.run_number > b.run_number and n.outcome = b.outcome
        limit 1
      ) as newer_of_outcome
      where not exists (select from sync_run_pages p where p.run_id = b.run_id)
    ), deleted as (
      delete from sync_runs where run_id = any(array(select run_id from old)) returning *
    ), summed as (
      insert into run_days (application_id, day, outcome, runs ${counters(sql)})
      select application_id, (finished_at at time zone 'UTC')::date, outcome, count(*)
        ${RUN_COUNTERS.map((name) => sql`, sum(${sql(name)})`)}
      from deleted group by 1, 2, 3 order by 1, 2, 3
      on conflict (application_id, day, outcome) do update
      set runs = least(run_days.runs, ${COUNTED_MAX}) + excluded.runs ${RUN_COUNTERS.map(
        (name) =>
          sql`, ${sql(name)} = least(run_days.${sql(name)} + excluded.${sql(name)}, ${Number.MAX_SAFE_INTEGER})`,
      )}
    )
    select finished_at::text, run_id, (select count(*)::int from deleted) as deleted
    from batch order by batch.finished_at desc, run_id desc limit 1`);
  return { deleted: row?.deleted ?? 0, last: row && { finished_at: row.finished_at, run_id: row.run_id } };
};

/** Deletes sums of days that ended more than `days` ago, at most `limit`. @returns their number */
export const pruneRunDays = (sql: Queryable, days: number, limit: number): Promise<number> =>
  countRows(sql`
    delete from run_days where ctid = any(array(
      select ctid from run_days where day < (now() at time zone 'UTC')::date - ${days}::int limit ${limit}))`);

export type RunDay = RunCounts & { day: string; outcome: RunOutcome; runs: number };

/** Reads one page of the runs of each day (UTC) by outcome, deleted ones included. */
export const listRunDayPage = (
  sql: Queryable,
  { application_id }: { application_id?: string | undefined },
  page: ListPage<'day'>,
) => {
  const ofApplication = application_id !== undefined && sql`application_id = ${application_id}`;
  return readListPage<RunDay>(sql, page, {
    columns: sql`*`,
    from: sql`(
      select day::text, outcome, sum(runs)::float8 as runs
        ${RUN_COUNTERS.map((name) => sql`, sum(${sql(name)})::float8 as ${sql(name)}`)}
      from (
        select day, outcome, runs ${counters(sql)}
        from run_days ${where(sql, [ofApplication])}
        union all
        select (finished_at at time zone 'UTC')::date, outcome, 1 ${counters(sql)}
        from sync_runs ${where(sql, [sql`finished_at is not null`, ofApplication])}
      ) as counted
      group by day, outcome
    ) as days where true`,
    sort_by: sql`day`,
    id: sql`outcome`,
  });
};
