import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { firstRow, isOneRow, onlyRow, readColumn } from '#db/rows.ts';
import type { applications } from '#db/schema/applications.ts';
import type { Schedule } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import { NO_BACKOFF } from '#src/rules/backoff.ts';

export type ApplicationRow = InferSelectModel<typeof applications>;

/** What an operator may set. */
export type ApplicationSettings = Pick<
  ApplicationRow,
  | 'name'
  | 'query_game_list_webhook'
  | 'query_game_detail_webhook'
  | 'query_cp_kyc_webhook'
  | 'every_ms'
  | 'kyc_every_ms'
  | 'detail_max_age_ms'
  | 'concurrency'
  | 'rate'
  | 'volatile_parameters'
  | 'review_priority'
>;
export type SealedAccessToken = Pick<ApplicationRow, 'access_token' | 'access_token_keys'>;

/** The column `application_name` of rows that have an `application_id`. @param from the name of these rows in `from` */
export const applicationName = (sql: Queryable, from: string) =>
  sql`(select name from applications a where a.application_id = ${sql(from)}.application_id) as application_name`;

/**
 * Registers an application.
 * @param again whether a removed one may have the id; its games with their decisions, its events and its records then
 * return
 * @returns false when the id is taken
 */
export const insertApplication = (
  sql: Queryable,
  application_id: string,
  settings: ApplicationSettings & Partial<Pick<ApplicationRow, 'status'>>,
  token: SealedAccessToken,
  again = false,
): Promise<boolean> => {
  const columns = {
    status: 'active' as const,
    ...settings,
    access_token: token.access_token as Uint8Array,
  };
  const keys = sql.json(token.access_token_keys);
  return isOneRow(sql`
    insert into applications ${sql({ application_id, ...columns, access_token_keys: keys })}
    on conflict (application_id) do update
      set ${sql({ ...columns, ...NO_BACKOFF, access_token_keys: keys })}, details_due_at = null,
        updated_at = now()
      where applications.status = 'removed' and ${again}`);
};

/** The sealed token of an application and the webhooks for which it is sealed. */
export type SealedTarget = Pick<
  ApplicationRow,
  'query_game_list_webhook' | 'query_game_detail_webhook' | 'query_cp_kyc_webhook' | 'access_token'
>;

/** Are the webhooks and the token those that were called? */
export const isAsSeen = (sql: Queryable, seen: SealedTarget) => sql`
  query_game_list_webhook = ${seen.query_game_list_webhook}
  and query_game_detail_webhook = ${seen.query_game_detail_webhook}
  and query_cp_kyc_webhook = ${seen.query_cp_kyc_webhook}
  and access_token is not distinct from ${seen.access_token}`;

/**
 * Changes the given settings. An application that backs off runs at its next tick. A new age of details clears
 * `details_due_at`. `updated_at` is the time after the wait for the lock, because a run that began before it does not set
 * `details_due_at` again.
 */
export const updateApplication = async (
  tx: Queryable,
  application_id: string,
  changes: Partial<ApplicationSettings> & Partial<SealedAccessToken>,
): Promise<void> => {
  const { access_token_keys, ...columns } = changes;
  const keys = access_token_keys === undefined ? {} : { access_token_keys: tx.json(access_token_keys) };
  const set = { ...columns, ...keys, next_attempt_at: null };
  const age = columns.detail_max_age_ms ?? null;
  await tx`
    update applications
    set ${tx(set as never)}, updated_at = clock_timestamp(),
        details_due_at = case when detail_max_age_ms = coalesce(${age}::bigint, detail_max_age_ms) then details_due_at end
    where application_id = ${application_id}`;
};

/** Pauses or resumes; clears the backoff. @returns false when there is no such application */
export const setApplicationStatus = (
  sql: Queryable,
  application_id: string,
  status: 'active' | 'paused',
): Promise<boolean> =>
  isOneRow(sql`
    update applications set ${sql({ status, ...NO_BACKOFF })}, updated_at = now()
    where application_id = ${application_id} and status <> 'removed'`);

/** Resumes what failed runs have paused or delayed, not what an operator has paused. @returns the ids, in order */
export const resumeApplications = async (sql: Queryable): Promise<string[]> => {
  const ids = await readColumn(sql<{ application_id: string }[]>`
    update applications set ${sql({ status: 'active', ...NO_BACKOFF })}, updated_at = now()
    where (status = 'paused' and pause_reason is not null) or (status = 'active' and next_attempt_at is not null)
    returning application_id`);
  return ids.sort();
};

/**
 * Marks an application as removed and deletes its access token. The lock waits for each transaction that brings a passed game
 * back (trigger `check_pass`), also one of a stolen login.
 * @returns false when there is no such application
 */
export const markRemoved = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    with locked as materialized (
      select application_id from applications where application_id = ${application_id} and status <> 'removed' for update)
    update applications set status = 'removed', access_token = null, access_token_keys = '[]', updated_at = now()
    where application_id in (select application_id from locked)`);

/** Locks an application until the transaction ends. @returns undefined when there is none */
export const lockApplication = (tx: Queryable, application_id: string): Promise<ApplicationRow | undefined> =>
  firstRow(tx<ApplicationRow[]>`
    select * from applications where application_id = ${application_id} and status <> 'removed' for no key update`);

/**
 * Locks an application against its removal until the transaction ends, for writes outside any run.
 * @returns false when it is removed
 */
export const lockActiveApplication = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    select from applications where application_id = ${application_id} and status <> 'removed' for share`);

/**
 * Locks an application like `lockActiveApplication`, for a write of what its server responded.
 * @param called the application as it was called, because a removed application may have been registered again since
 * @returns false when it is removed
 * @throws CatalogueError when its webhooks or its token have changed since; the call is then to be retried
 */
export const lockCalledApplication = async (
  tx: Queryable,
  application_id: string,
  called: SealedTarget,
): Promise<boolean> => {
  const row = await firstRow(tx<{ is_as_called: boolean }[]>`
    select ${isAsSeen(tx, called)} as is_as_called from applications
    where application_id = ${application_id} and status <> 'removed' for share`);
  if (row?.is_as_called === false)
    throw new CatalogueError(`The webhooks or the token of ${application_id} changed during the call.`);
  return row !== undefined;
};

export const findApplication = (sql: Queryable, application_id: string) =>
  firstRow(sql<ApplicationRow[]>`
    select * from applications where application_id = ${application_id} and status <> 'removed'`);

/** Is this an application that is not removed? */
export const isRegistered = (sql: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(sql`select from applications where application_id = ${application_id} and status <> 'removed'`);

/** Is the id known, also of a removed application? */
export const wasRegistered = (sql: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(sql`select from applications where application_id = ${application_id}`);

export const listApplications = (sql: Queryable): Promise<ApplicationRow[]> =>
  sql<ApplicationRow[]>`select * from applications where status <> 'removed' order by application_id`;

export type ScheduleRow = Pick<ApplicationRow, 'application_id' | 'status' | 'every_ms' | 'kyc_every_ms'>;

/** Status and intervals of the applications after this id, in the order of their ids. */
export const listSchedules = (sql: Queryable, after: string, limit: number): Promise<ScheduleRow[]> =>
  sql<ScheduleRow[]>`
    select application_id, status, every_ms, kyc_every_ms from applications where application_id > ${after}
    order by application_id limit ${limit}`;

/** Is the application active, and neither changed nor pulled for this schedule since this moment? */
export const isUnpulledSince = (
  sql: Queryable,
  application_id: string,
  schedule: Schedule,
  since: Date,
): Promise<boolean> =>
  isOneRow(sql`
    select from applications
    where application_id = ${application_id} and status = 'active' and updated_at < ${since}
      and ${since} > all (${
        schedule === 'games'
          ? sql`select started_at from sync_runs where application_id = ${application_id} order by run_number desc limit 1`
          : sql`select greatest(pulled_at, requested_at, '-infinity') from kyc_states where application_id = ${application_id}`
      })`);

/** The applications by state; `overdue`: active, without a successful run for more than three intervals. */
export const countApplications = (sql: Queryable) =>
  onlyRow(sql<Record<'active' | 'paused' | 'failing' | 'overdue', number>[]>`
    select count(*) filter (where status = 'active')::int as active,
           count(*) filter (where status = 'paused')::int as paused,
           count(*) filter (where failing_since is not null)::int as failing,
           count(*) filter (where status = 'active' and coalesce(last_success_at, created_at)
             < now() - 3 * every_ms * interval '1 millisecond')::int as overdue
    from applications where status <> 'removed'`);

export type LaggingApplication = Pick<ApplicationRow, 'application_id' | 'every_ms'> & {
  /** The last success of a run, whole or partial; the registration if there is none. */
  since: Date;
};

/** Lists the active applications by the number of intervals since their last success, the largest first. */
export const listLaggingApplications = (sql: Queryable, limit: number): Promise<LaggingApplication[]> =>
  sql<LaggingApplication[]>`
    select application_id, every_ms, coalesce(last_success_at, created_at) as since
    from applications where status = 'active'
    order by extract(epoch from now() - coalesce(last_success_at, created_at)) / every_ms desc
    limit ${limit}`;
