/** KYC records that are kept no longer. */
import type { Queryable } from '#db/client.ts';
import { isOneRow, readColumn } from '#db/rows.ts';

const before = (sql: Queryable, keepMs: number) => sql`now() - ${keepMs} * interval '1 millisecond'`;

/** Deletes former versions that were replaced before this time. @returns how many of each application */
export const deleteOldFormerRecords = (tx: Queryable, keepMs: number, limit: number) =>
  tx<{ application_id: string; versions: number }[]>`
    with old as (
      delete from kyc_former_records where record_id in (
        select record_id from kyc_former_records where replaced_at < ${before(tx, keepMs)}
        order by replaced_at limit ${limit})
      returning application_id
    )
    select application_id, count(*)::int as versions from old group by 1 order by 1`;

const wasRemoved = (sql: Queryable, keepMs: number) => sql`
  status = 'removed' and updated_at < ${before(sql, keepMs)}`;

/** Applications that were removed before this time and still have records. A removal is the last change of its row. */
export const listRemovedWithRecords = (sql: Queryable, keepMs: number) =>
  readColumn(sql<{ application_id: string }[]>`
    select application_id from applications a
    where ${wasRemoved(sql, keepMs)}
      and (exists (select from kyc_records r where r.application_id = a.application_id)
           or exists (select from kyc_former_records f where f.application_id = a.application_id))
    order by application_id`);

/**
 * Locks an application against being registered again until the transaction ends.
 * @returns false if it is not removed, or was removed later than this
 */
export const lockRemovedApplication = (tx: Queryable, application_id: string, keepMs: number) =>
  isOneRow(tx`
    select from applications
    where application_id = ${application_id} and ${wasRemoved(tx, keepMs)} for share`);
