import { clockFrom, type Queryable } from '#db/client.ts';
import type { ApplicationRow, ApplicationSettings, SealedAccessToken } from '#db/queries/applications.ts';
import type { PageRow, RunFence, RunRow } from '#db/queries/runs.ts';

/** A page as it is read from JSON, without its date, because JSON has no dates. */
export type StoredPage = Omit<PageRow, 'listed_at'>;

/** The columns of its application that a step needs: where to call it, and how fast. Without dates, because JSON has none. */
export type CalledApplication = ApplicationSettings &
  SealedAccessToken &
  Pick<ApplicationRow, 'application_id'>;

/** The rows that a step of a run reads first. */
export type RunStep = {
  run: RunRow;
  application: CalledApplication;
  /** Undefined when the run has no such page. */
  page: StoredPage | undefined;
  /** The database's clock. */
  clock: () => Date;
};

/**
 * Finds an open run with its application and one of its pages. The sealed token is a separate column, because JSON has
 * no bytes.
 * @returns undefined if the fence is stale, the run is finished or the application is removed
 */
export const findRunStep = async (
  sql: Queryable,
  { run_id, fence }: RunFence,
  page_num: number,
): Promise<RunStep | undefined> => {
  const [row] = await sql<
    (RunRow & {
      application: Omit<CalledApplication, 'access_token'>;
      access_token: CalledApplication['access_token'];
      page: StoredPage | null;
      now: Date;
    })[]
  >`
    select r.*, to_jsonb(a) - 'access_token' as application, a.access_token,
      to_jsonb(p) - 'listed_at' as page, clock_timestamp() as now
    from sync_runs r join applications a using (application_id)
      left join sync_run_pages p on p.run_id = r.run_id and p.page_num = ${page_num}
    where r.run_id = ${run_id} and r.fence = ${fence} and r.finished_at is null and a.status <> 'removed'`;
  if (row === undefined) return undefined;
  const { application, access_token, page, now, ...run } = row;
  return {
    run,
    application: { ...application, access_token },
    page: page ?? undefined,
    clock: clockFrom(now),
  };
};

/** Writes in an open run what it waits for, unless the fence is stale. */
export const noteOpenRun = (sql: Queryable, { run_id, fence }: RunFence, note: string) =>
  sql`
    update sync_runs set note = ${note}
    where run_id = ${run_id} and fence = ${fence} and finished_at is null`;
