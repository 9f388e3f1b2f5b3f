import type { Queryable } from '#db/client.ts';
import { isWaiting } from '#db/queries/appeals.ts';
import { openWithdrawalRequests } from '#db/queries/approvals.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { pendingHeld } from '#db/queries/lane-counts.ts';
import { unansweredMessages } from '#db/queries/threads.ts';
import { suspectEnd } from '#db/queries/vanishing-games.ts';
import { onlyRow } from '#db/rows.ts';
import type { AuditStatus } from '#src/contract/words.ts';

/** The count of failures stops above this. */
export const FAILURES_COUNTED = 1_000;

/** The count of events that were given up stops above this. */
export const GIVEN_UP_COUNTED = 1_000;

/** What waits for an operator. `pending`: games and appeals. `failures`: at most one more than `FAILURES_COUNTED`. */
export type NavigationCounts = Record<'pending' | 'requests' | 'failures' | 'applications', number>;

export const readNavigationCounts = (sql: Queryable): Promise<NavigationCounts> =>
  onlyRow(sql<NavigationCounts[]>`
    select ((select coalesce(sum(games), 0) from game_totals('') where audit_status = 'pending')
              - ${pendingHeld(sql)} + (select open from count_appeals()))::float8 as pending,
           (select count(*)::int from ${openWithdrawalRequests(sql)}) as requests,
           (select count(*)::int from (select from ingest_failures limit ${FAILURES_COUNTED + 1}) counted) as failures,
           (select count(*)::int from applications
            where status = 'paused' or status = 'active' and failing_since is not null) as applications`);

/**
 * What waits for a developer. `rejected`: games whose appeal does not wait for a reviewer. `asked`: other games with a message
 * that is not answered, by status. `failures`: counted up to `FAILURES_COUNTED`; each row of the list that names no game is one.
 * `broken`: rules that did not hold at the last check. `given_up`: events that no further attempt sends to an address that is
 * not off; at most one more than `GIVEN_UP_COUNTED`. `is_unread`: the application is paused, or its runs fail. `is_suspect`: its
 * list is in doubt. Without an address, its state is null.
 */
export type PortalCounts = Record<'rejected' | 'failures' | 'broken' | 'given_up', number> &
  Record<'is_unread' | 'is_suspect', boolean> &
  Record<'asked', Partial<Record<AuditStatus, number>>> & {
    [Key in 'status' | 'failing_since' | 'last_error']: EventWebhook[Key] | null;
  };

/** Reads the counts that every page of a developer shows, from counters and indexes. */
export const readPortalCounts = (sql: Queryable, application_id: string): Promise<PortalCounts> =>
  onlyRow(sql<PortalCounts[]>`
    select (select coalesce(sum(games), 0)::int from game_totals(a.application_id) where audit_status = 'rejected')
             - (select count(*)::int from game_appeals p join games g using (game_id)
                where p.application_id = a.application_id and ${isWaiting(sql)}) as rejected,
           (select coalesce(jsonb_object_agg(audit_status, games), '{}') from (
              select g.audit_status, count(*) as games from ${unansweredMessages(sql, sql`a.application_id`)}
                and (g.audit_status <> 'rejected'
                  or exists (select from game_appeals p where p.game_id = g.game_id and ${isWaiting(sql)}))
              group by 1) asked) as asked,
           (select count(*)::int from (
              select from ingest_failures where application_id = a.application_id limit ${FAILURES_COUNTED + 1}
            ) counted) + (
              -- Rows of the list that name no game are one failure.
              select greatest(count(distinct (substring(r.value ->> 'path' from '^list\\.\\d+'), r.value ->> 'page')), 1)::int - 1
              from ingest_failures f cross join jsonb_array_elements(f.reasons) r
              where f.application_id = a.application_id and f.operation = 'query_game_list' and f.application_game_id = ''
            ) as failures,
           coalesce((
             select failed from application_checks where application_id = a.application_id
             order by requested_at desc limit 1), 0)::float8 as broken,
           (select count(*)::int from (
              select from event_deliveries d
              where d.application_id = w.application_id and d.state = 'failed' and w.status = 'active'
              limit ${GIVEN_UP_COUNTED + 1}
            ) given_up) as given_up,
           a.status = 'paused' or a.failing_since is not null or coalesce((
             select outcome = 'failed' from sync_runs
             where application_id = any (array[a.application_id]) and finished_at is not null
             order by application_id desc, run_number desc limit 1), false) as is_unread,
           exists (select from ${suspectEnd(sql)} as suspect) as is_suspect,
           w.status, w.failing_since, w.last_error
    from applications a left join event_webhooks w using (application_id)
    where a.application_id = ${application_id}`);
