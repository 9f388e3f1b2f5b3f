import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import type { Backoff, Reach } from '#src/rules/backoff.ts';

type LockedBackoff = Pick<ApplicationRow, 'failed_runs' | 'failing_since' | 'every_ms'>;

/** Read what `afterFailedRun` needs, locked until the transaction ends. */
export const lockBackoff = (tx: Queryable, application_id: string) =>
  firstRow(tx<LockedBackoff[]>`
    select failed_runs, failing_since, every_ms from applications
    where application_id = ${application_id} for no key update`);

/** Save the backoff. With a pause reason, an active application is paused. */
export const saveBackoff = async (
  tx: Queryable,
  application_id: string,
  { failed_runs, failing_since, next_attempt_at, pause_reason }: Backoff,
): Promise<void> => {
  await tx`
    update applications
    set failed_runs = ${failed_runs}, failing_since = ${failing_since}, next_attempt_at = ${next_attempt_at},
        pause_reason = case when status = 'active' then ${pause_reason}::text else pause_reason end,
        status = case when status = 'active' and ${pause_reason}::text is not null then 'paused' else status end
    where application_id = ${application_id}`;
};

/**
 * Clear the backoff after a run that did not fail, and end a pause that it caused.
 * @param isSuccess false for a suspect run; otherwise `last_success_at` is set
 */
export const clearBackoff = async (tx: Queryable, application_id: string, isSuccess: boolean) => {
  await tx`
    update applications
    set failed_runs = 0, failing_since = null, next_attempt_at = null, pause_reason = null,
        status = case when status = 'paused' and pause_reason is not null then 'active' else status end,
        last_success_at = case when ${isSuccess} then now() else last_success_at end
    where application_id = ${application_id}`;
};

/** Latest runs that `readReach` reads. */
const REACH_RUNS = 200;

/** Reads which applications the fleet reaches, from the latest run of each among the 200 latest of the last day. */
export const readReach = (sql: Queryable) =>
  onlyRow(sql<Reach[]>`
    select count(*)::int as applications, (count(*) filter (where no_answer))::int as unreachable
    from (
      select distinct on (application_id) coalesce(fault = 'unreachable', false) as no_answer
      from (
        select application_id, fault, finished_at from sync_runs
        where finished_at > now() - interval '1 day' and outcome <> 'abandoned'
        order by finished_at desc limit ${REACH_RUNS}
      ) latest
      order by application_id, finished_at desc
    ) runs`);
