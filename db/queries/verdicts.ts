/** Verdicts on developers. Triggers end one when its record changes (db/migrations/0001_functions.sql). */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, onlyRow, onlyValue } from '#db/rows.ts';
import type { kycVerdicts } from '#db/schema/kyc.ts';
import { where } from '#db/where.ts';
import type { Verdict } from '#src/contract/words.ts';

/** `standing`, or how it ended. A verdict whose time has ended is `expired` from that moment on. */
export type VerdictState = 'standing' | NonNullable<InferSelectModel<typeof kycVerdicts>['ended_as']>;
export type VerdictRow = InferSelectModel<typeof kycVerdicts> & { state: VerdictState };

/** What an application's developer and every operator may know. */
export type PublicVerdict = Pick<
  VerdictRow,
  'verdict' | 'text' | 'decided_at' | 'expires_at' | 'ended_at' | 'state'
>;

const state = (sql: Queryable) => sql`
  case when v.ended_at is not null then v.ended_as when v.expires_at <= now() then 'expired' else 'standing' end`;

const isStanding = (sql: Queryable) => sql`v.ended_at is null and v.expires_at > now()`;

type NewVerdict = Pick<
  VerdictRow,
  'application_id' | 'record_id' | 'verdict' | 'reason' | 'text' | 'decided_by'
> & { expires_ms: number };

/** Records a verdict in place of the one before. The caller has locked the KYC state. */
export const insertVerdict = async (
  tx: Queryable,
  { expires_ms, ...row }: NewVerdict,
): Promise<VerdictRow> => {
  await tx`
    update kyc_verdicts
    set ended_at = now(), ended_as = case when expires_at <= now() then 'expired' else 'replaced' end
    where application_id = ${row.application_id} and ended_at is null`;
  return onlyRow(tx<VerdictRow[]>`
    insert into kyc_verdicts as v (application_id, record_id, verdict, reason, text, decided_by, expires_at)
    values (${row.application_id}, ${row.record_id}, ${row.verdict}, ${row.reason}, ${row.text}, ${row.decided_by},
            now() + ${expires_ms} * interval '1 millisecond')
    returning v.*, ${state(tx)} as state`);
};

/** The last verdict on the developer of an application, standing or not. */
export const findLastVerdict = (sql: Queryable, application_id: string): Promise<VerdictRow | undefined> =>
  firstRow(sql<VerdictRow[]>`
    select v.*, ${state(sql)} as state from kyc_verdicts v
    where v.application_id = ${application_id} order by verdict_id desc limit 1`);

/** Writes down which verdicts have ended at their time. @returns how many */
export const endExpiredVerdicts = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ ended: number }[]>`select end_expired_verdicts() as ended`);

/** A standing verdict that ends within this time is listed as ending soon. */
export const ENDS_SOON_DAYS = 30;

type VerdictFilter = {
  application_id?: string | undefined;
  standing?: boolean | undefined;
  /** Only standing verdicts that end within `ENDS_SOON_DAYS`. */
  ends_soon?: boolean | undefined;
};

export type VerdictItem = VerdictRow & { name: string };

/** Reads one page of the verdicts. */
export const listVerdictPage = (
  sql: Queryable,
  { application_id, standing, ends_soon }: VerdictFilter,
  page: ListPage<'decided_at' | 'expires_at'>,
) => {
  const sorts = { decided_at: sql`v.decided_at`, expires_at: sql`v.expires_at` };
  return readListPage<VerdictItem>(sql, page, {
    columns: sql`v.*, a.name, ${state(sql)} as state`,
    from: sql`kyc_verdicts v join applications a using (application_id) ${where(sql, [
      application_id !== undefined && sql`v.application_id = ${application_id}`,
      (standing === true || ends_soon === true) && isStanding(sql),
      ends_soon === true && sql`v.expires_at < now() + ${ENDS_SOON_DAYS} * interval '1 day'`,
    ])}`,
    sort_by: sorts[page.sort],
    id: sql`v.verdict_id`,
  });
};

/** An application with live games and without the verdict that they need. */
export type UnverifiedApplication = {
  application_id: string;
  name: string;
  verdict: Verdict | null;
  /** When its last verdict ended; null if there was none. */
  until: Date | null;
};

/** Reads one page of the applications whose games are live without the verdict that they need. */
export const listUnverifiedPage = (sql: Queryable, page: ListPage<'application_id'>) =>
  readListPage<UnverifiedApplication>(sql, page, {
    columns: sql`*`,
    from: sql`unverified_applications() where true`,
    sort_by: sql`application_id`,
    id: sql`application_id`,
  });

/** Counts verdicts for the metrics. `waiting`: records of a current cp_id on which no verdict stands. */
export const countVerdicts = (sql: Queryable) =>
  onlyRow(
    sql<
      { unverified: number; ending: number; waiting: number; oldest_waiting: Date | null; held: number }[]
    >`select * from count_verdicts()`,
  );

/** The median wait is that of the verdicts of these last days. */
export const WAITS_OF_DAYS = 30;

/**
 * Reads the median time that records waited for the verdicts of the last days, since they arrived or the former verdict
 * ended. Null if there was no verdict.
 */
export const readVerdictWaitMs = (sql: Queryable): Promise<number | null> =>
  onlyValue(sql<{ median: number | null }[]>`
    select extract(epoch from percentile_cont(0.5) within group (order by decided_at - since))::float8 * 1000 as median
    from (
      select v.decided_at,
             greatest(r.received_at, lag(v.ended_at) over (partition by v.application_id order by v.verdict_id)) as since
      from kyc_verdicts v join (
        select record_id, received_at from kyc_records union all select record_id, received_at from kyc_former_records
      ) r using (record_id)
    ) as given
    where decided_at > since and decided_at > now() - ${WAITS_OF_DAYS} * interval '1 day'`);
