import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { firstRow, isOneRow, onlyRow } from '#db/rows.ts';
import type { Backoff, Reach } from '#src/rules/backoff.ts';

type LockedBackoff = Pick<ApplicationRow, 'failed_runs' | 'failing_since' | 'every_ms'>;

/** Reads what `afterFailedRun` needs, and locks it until the transaction ends. */
export const lockBackoff = (tx: Queryable, application_id: string) =>
  firstRow(tx<LockedBackoff[]>`
    select failed_runs, failing_since, every_ms from applications
    where application_id = ${application_id} for no key update`);

/** Writes the backoff of an application. */
export const saveBackoff = async (
  tx: Queryable,
  application_id: string,
  { failed_runs, failing_since, next_attempt_at }: Backoff,
): Promise<void> => {
  await tx`
    update applications
    set failed_runs = ${failed_runs}, failing_since = ${failing_since}, next_attempt_at = ${next_attempt_at}
    where application_id = ${application_id}`;
};

/** Pauses an application because its runs fail. @returns false if it is not active */
export const pauseFailing = (tx: Queryable, application_id: string, pause_reason: string): Promise<boolean> =>
  isOneRow(tx`
    update applications set status = 'paused', pause_reason = ${pause_reason}
    where application_id = ${application_id} and status = 'active'`);

/** Ends a pause that failed runs have caused. @returns false if there is none */
export const resumeRecovered = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    update applications set status = 'active', pause_reason = null
    where application_id = ${application_id} and status = 'paused' and pause_reason is not null`);

/** `readReach` reads at most this many of the latest runs. */
const REACH_RUNS = 200;

/** Reads which applications the fleet reaches, from the latest run of each among the 200 latest of the last day. */
export const readReach = (sql: Queryable) =>
  onlyRow(sql<Reach[]>`
    select count(*)::int as applications, (count(*) filter (where no_answer))::int as unreachable
    from (
      select distinct on (application_id) coalesce(fault in ('unreachable', 'worker'), false) as no_answer
      from (
        select application_id, fault, finished_at from sync_runs
        where finished_at > now() - interval '1 day' and outcome <> 'abandoned'
        order by finished_at desc limit ${REACH_RUNS}
      ) latest
      order by application_id, finished_at desc
    ) runs`);
