import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow } from '#db/rows.ts';
import type { applicationChecks } from '#db/schema/requests.ts';
import { storableJson } from '#db/storable-json.ts';

export type CheckRow = InferSelectModel<typeof applicationChecks>;

/** A check calls for a few minutes at most. One that is open for longer was lost with its queue. */
const LOST_AFTER = '15 minutes';
/** The shortest time between two checks of an application. */
const PAUSE = '1 minute';
/** The latest reports of an application that are kept. */
const KEPT = 10;

/** Opens a check, unless one is open, or one was requested within `PAUSE`. @returns whether it was opened */
export const insertCheck = async (
  tx: Queryable,
  { check_id, application_id, requested_by }: Pick<CheckRow, 'check_id' | 'application_id' | 'requested_by'>,
): Promise<boolean> => {
  await tx`
    update application_checks set finished_at = now(), error = 'The check was lost: run it again.'
    where application_id = ${application_id} and finished_at is null
      and requested_at not between now() - ${LOST_AFTER}::interval and now()`;
  return isOneRow(tx`
    insert into application_checks (check_id, application_id, requested_by)
    select ${check_id}, ${application_id}, ${requested_by}
    where not exists (
      select from application_checks
      where application_id = ${application_id} and requested_at between now() - ${PAUSE}::interval and now())
    on conflict (application_id) where finished_at is null do nothing`);
};

export const findCheck = (sql: Queryable, check_id: string): Promise<CheckRow | undefined> =>
  firstRow(sql<CheckRow[]>`select * from application_checks where check_id = ${check_id}`);

/** Reads one page of the checks of an application. */
export const listCheckPage = (
  sql: Queryable,
  { application_id }: { application_id: string },
  page: ListPage<'requested_at'>,
) =>
  readListPage<CheckRow>(sql, page, {
    columns: sql`*`,
    from: sql`application_checks where application_id = ${application_id}`,
    sort_by: sql`requested_at`,
    id: sql`check_id`,
  });

/** Ends a check with its report, or with why there is none. */
export const finishCheck = async (
  sql: Queryable,
  { check_id, application_id }: Pick<CheckRow, 'check_id' | 'application_id'>,
  result: Partial<Pick<CheckRow, 'passed' | 'failed' | 'skipped' | 'cases' | 'error'>>,
): Promise<void> => {
  const { passed = 0, failed = 0, skipped = 0, cases = [], error = null } = result;
  // An application chooses what it answers; jsonb stores neither U+0000 nor a lone surrogate.
  const json = storableJson(cases);
  await sql`
    update application_checks
    set finished_at = now(), passed = ${passed}, failed = ${failed}, skipped = ${skipped},
        cases = ${json}::text::jsonb, error = ${error}
    where check_id = ${check_id} and finished_at is null`;
  await sql`
    delete from application_checks where check_id in (
      select check_id from application_checks where application_id = ${application_id}
      order by requested_at desc offset ${KEPT})`;
};
