/** Requests that take a second person. The rule is in src/operations/second-person.ts; each step is one guarded statement here. */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow, readValue } from '#db/rows.ts';
import type { approvals } from '#db/schema/approvals.ts';
import { where } from '#db/where.ts';
import {
  APPROVE_WITHIN_MINUTES,
  type ApprovalClosing,
  type ApprovalKind,
  type ApprovalState,
  USE_WITHIN_MINUTES,
} from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';

export type ApprovalRow = InferSelectModel<typeof approvals> & { state: ApprovalState };

/** `application_name` is null unless the request is about an application. */
export type ListedApproval = ApprovalRow & { application_name: string | null };

/** The columns of a request, and its present state. */
const columns = (sql: Queryable) => sql`
  *, case when used_at is not null then 'used'
          when closed_at is not null then closed_as
          when expires_at <= now() then 'expired'
          when approved_at is not null then 'approved'
          else 'requested' end as state`;

const isOpen = (sql: Queryable) => sql`used_at is null and closed_at is null and expires_at > now()`;

/** Has this operator been one for long enough to be one of two persons? */
const countsNow = (sql: Queryable, login: unknown) => sql`
  exists (select from operators o where o.login = ${login as string} and o.counts_at <= now())`;

export const isCounted = (sql: Queryable, login: string): Promise<boolean> =>
  isOneRow(sql`select where ${countsNow(sql, login)}`);

/** Is this an active operator with one of these roles? */
const mayNow = (sql: Queryable, login: unknown, roles: readonly Role[]) => sql`
  exists (select from operators o
          where o.login = ${login as string} and o.status = 'active' and o.roles && ${roles as Role[]}::text[])`;

/**
 * Are there two operators, one who may request and another who may approve? Disabled operators, roles that were taken away
 * and past requests count too, because once the rule has begun, only the setting ends it.
 */
export const couldTwoOperators = (
  sql: Queryable,
  kind: ApprovalKind,
  roles: { request: readonly Role[]; approve: readonly Role[] },
): Promise<boolean> =>
  isOneRow(sql`
    select where exists (select from operators requester join operators approver on approver.login <> requester.login
                   where requester.held_roles && ${roles.request as Role[]}::text[]
                     and approver.held_roles && ${roles.approve as Role[]}::text[])
           or exists (select from approvals where kind = ${kind})`);

/**
 * Finds the present version of the thing that a request is about: the id of the current record (for a verdict, also the id
 * of the last verdict; for an erasure before the first record, `none`), the refused cp_id, the number of games that would
 * be withdrawn, or the roles of an operator. Null if there is nothing left to do.
 */
export const findVersion = async (
  sql: Queryable,
  kind: ApprovalKind,
  subject: string,
): Promise<string | null> => {
  const id = subject.slice(subject.indexOf(':') + 1);
  const ofOperator = sql`
    select coalesce((select array_to_string(roles, ',') || ' ' || status from operators where login = ${id}), 'new')
           as version`;
  const version = {
    withdrawals: sql`
      select case when games = 0 then null else games || case games when 1 then ' game' else ' games' end end as version
      from (select count(*) as games
            from vanishing_games v join sync_runs r using (run_id) join games g using (game_id)
            where v.run_id = ${id} and g.withdrawn_at is null and g.fetched_at <= r.finished_at
              and not exists (select from sync_runs later
                              where later.application_id = r.application_id and later.run_number > r.run_number)) now`,
    officer: ofOperator,
    reviewer: ofOperator,
    'cp-id': sql`select refused_cp_id as version from kyc_states where application_id = ${id}`,
    verdict: sql`
      select concat_ws('/', r.record_id, (select max(verdict_id) from kyc_verdicts where application_id = ${id})) as version
      from kyc_records r join content_providers p using (application_id, cp_id) join applications a using (application_id)
      where r.application_id = ${id} and p.replaced_at is null and a.status <> 'removed'`,
    reveal: sql`select record_id::text as version from kyc_records where application_id = ${id}`,
    // Without a record, an erasure still stops the pulls of the application.
    erase: sql`
      select coalesce((select record_id::text from kyc_records where application_id = ${id}),
                      (select record_id::text from kyc_former_records where application_id = ${id}
                       order by replaced_at desc, record_id desc limit 1),
                      case when s.state is distinct from 'erased' then 'none' end) as version
      from applications a left join kyc_states s using (application_id) where a.application_id = ${id}`,
  };
  return (await readValue(sql<{ version: string | null }[]>`${version[kind]}`)) ?? null;
};

/** The record that a verdict is requested on. The version of the request names the last verdict too, which the new one replaces. */
export const recordOf = (version: string): string => version.replace(/\/.*/, '');

type NewApproval = Pick<
  ApprovalRow,
  'approval_id' | 'kind' | 'subject' | 'version' | 'requested' | 'reason' | 'requested_by'
>;

/** Adds a request. @returns undefined if this person has an open one for the same */
export const insertApproval = async (
  tx: Queryable,
  { requested, ...request }: NewApproval,
): Promise<ApprovalRow | undefined> => {
  await tx`
    update approvals set closed_at = now(), closed_as = 'expired'
    where kind = ${request.kind} and subject = ${request.subject} and requested_by = ${request.requested_by}
      and used_at is null and closed_at is null and expires_at <= now()`;
  return firstRow(tx<ApprovalRow[]>`
    insert into approvals (approval_id, kind, subject, version, requested, reason, requested_by, expires_at)
    values (${request.approval_id}, ${request.kind}, ${request.subject}, ${request.version},
            ${tx.json(requested as never)}, ${request.reason}, ${request.requested_by},
            now() + ${APPROVE_WITHIN_MINUTES} * interval '1 minute')
    on conflict do nothing returning ${columns(tx)}`);
};

export const findApproval = (sql: Queryable, approval_id: string): Promise<ApprovalRow | undefined> =>
  firstRow(sql<ApprovalRow[]>`select ${columns(sql)} from approvals where approval_id = ${approval_id}`);

/** Approves an open request of another person, about this version, by an active operator with the role. */
export const approveRequest = (
  tx: Queryable,
  { approval_id, by, version }: { approval_id: string; by: string; version: string },
  roles: readonly Role[],
): Promise<ApprovalRow | undefined> =>
  firstRow(tx<ApprovalRow[]>`
    update approvals
    set approved_by = ${by}, approved_at = now(), expires_at = now() + ${USE_WITHIN_MINUTES} * interval '1 minute'
    where approval_id = ${approval_id} and version = ${version} and requested_by <> ${by} and approved_at is null
      and ${isOpen(tx)} and ${mayNow(tx, by, roles)} and ${countsNow(tx, by)}
    returning ${columns(tx)}`);

/**
 * Uses an approved request up: of concurrent calls one succeeds. Only the requester can use it, for this version, while both
 * persons are active and have the role.
 */
export const useRequest = (
  tx: Queryable,
  use: { approval_id: string; kind: ApprovalKind; subject: string; version: string; by: string },
  roles: { request: readonly Role[]; approve: readonly Role[] },
): Promise<ApprovalRow | undefined> =>
  firstRow(tx<ApprovalRow[]>`
    update approvals a set used_at = now()
    where approval_id = ${use.approval_id} and kind = ${use.kind} and subject = ${use.subject}
      and version = ${use.version} and requested_by = ${use.by} and approved_by <> ${use.by} and ${isOpen(tx)}
      and ${mayNow(tx, tx`a.requested_by`, roles.request)} and ${mayNow(tx, tx`a.approved_by`, roles.approve)}
      and ${countsNow(tx, tx`a.approved_by`)}
    returning ${columns(tx)}`);

/** Ends a request that is not used. @returns false if it had ended */
export const closeRequest = (tx: Queryable, approval_id: string, closed_as: ApprovalClosing) =>
  isOneRow(tx`
    update approvals set closed_at = now(), closed_as = ${closed_as}
    where approval_id = ${approval_id} and used_at is null and closed_at is null`);

export type ApprovalFilter = {
  kinds: readonly ApprovalKind[];
  subject?: string | undefined;
  /** Only those that wait for the second person or for their use. */
  open?: boolean | undefined;
};

const whereMatches = (sql: Queryable, { kinds, subject, open = false }: ApprovalFilter) =>
  where(sql, [
    sql`kind = any(${kinds as ApprovalKind[]}::text[])`,
    subject !== undefined && sql`subject = ${subject}`,
    open && isOpen(sql),
  ]);

/** Lists requests, latest first. */
export const listApprovals = (
  sql: Queryable,
  { limit, ...filter }: ApprovalFilter & { limit: number },
) => sql<ApprovalRow[]>`
  select ${columns(sql)} from approvals ${whereMatches(sql, filter)}
  order by requested_at desc, approval_id desc limit ${limit}`;

/** Reads one page of the requests. */
export const listApprovalPage = (sql: Queryable, filter: ApprovalFilter, page: ListPage<'requested_at'>) =>
  readListPage<ListedApproval>(sql, page, {
    columns: sql`${columns(sql)}, (select a.name from applications a
                                   where a.application_id = substr(subject, length('application:') + 1)) as application_name`,
    from: sql`approvals ${whereMatches(sql, filter)}`,
    sort_by: sql`requested_at`,
    id: sql`approval_id`,
  });

/**
 * The open requests to withdraw games of runs that are still the latest of their applications. Whether their games have
 * changed since is not read, because counting them takes seconds for a large run (`findVersion`).
 */
export const openWithdrawalRequests = (sql: Queryable) => sql`
  (with requests as materialized (
     select ${columns(sql)} from approvals where kind = 'withdrawals' and ${isOpen(sql)}
   )
   select * from requests) open
  join sync_runs r on r.run_id = substr(open.subject, length('run:') + 1)::uuid
  join applications a using (application_id)
  where a.status <> 'removed' and not exists (
    select from sync_runs later where later.application_id = r.application_id and later.run_number > r.run_number)`;

/** Reads one page of `openWithdrawalRequests`. */
export const listWithdrawalRequestPage = (sql: Queryable, page: ListPage<'requested_at'>) =>
  readListPage<ListedApproval>(sql, page, {
    columns: sql`open.*, a.name as application_name`,
    from: openWithdrawalRequests(sql),
    sort_by: sql`open.requested_at`,
    id: sql`open.approval_id`,
  });
