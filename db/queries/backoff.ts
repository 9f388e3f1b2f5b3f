import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { Backoff } from '#src/rules/backoff.ts';

/** What the rule needs of the application, locked until the transaction ends. */
export const lockBackoff = async (
  tx: Queryable,
  application_id: string,
): Promise<Pick<ApplicationRow, 'failed_runs' | 'failing_since' | 'every_ms'> | undefined> => {
  const rows = await tx<Pick<ApplicationRow, 'failed_runs' | 'failing_since' | 'every_ms'>[]>`
    select failed_runs, failing_since, every_ms from applications
    where application_id = ${application_id} for no key update`;
  return rows[0];
};

/** Write down one more failed run. With a reason to pause, an active application is paused. */
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

/** A run came through: nothing of earlier failures is held on to, and a pause that was for them ends. */
export const clearBackoff = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`
    update applications
    set failed_runs = 0, failing_since = null, next_attempt_at = null, pause_reason = null,
        status = case when status = 'paused' and pause_reason is not null then 'active' else status end
    where application_id = ${application_id}
      and (failed_runs > 0 or next_attempt_at is not null or pause_reason is not null)`;
};
