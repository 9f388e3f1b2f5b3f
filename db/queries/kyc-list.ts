import type { Queryable } from '#db/client.ts';
import type { KycStateRow } from '#db/queries/kyc.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { VerdictState } from '#db/queries/verdicts.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import { type KycState, VERDICTS, type Verdict } from '#src/contract/words.ts';

/** A developer, known by its application, with its KYC but without the record. */
export type Developer = KycStateRow & {
  name: string;
  status: 'active' | 'paused' | 'removed';
  cp_id: string | null;
  application_cp_id: string | null;
  /** The version of the record; null without one. */
  record_id: string | null;
  /**
   * The application's cp_id that the record is of. After a new cp_id was accepted, it is the former one until the
   * application returns the new record.
   */
  record_cp_id: string | null;
  received_at: Date | null;
  /** Fields that the current record changed: empty for a first record, null without a record. */
  changed_fields: string[] | null;
  former_versions: number;
  /** The last verdict, and whether it stands or how it ended. Null: there was none. */
  verdict: Verdict | null;
  verdict_state: VerdictState | null;
  /** When it ends, or ended. */
  verdict_until: Date | null;
  /** Other applications with the same tax id. */
  same_tax_id: string[];
};

/** The columns of a developer. Fingerprints are compared in the database and do not leave it. */
const columns = (sql: Queryable) => sql`
  a.application_id, a.name, a.status, coalesce(s.state, 'pending') as state, s.reason, s.pulled_at, s.refused_cp_id,
  p.cp_id, p.application_cp_id, r.record_id, rp.application_cp_id as record_cp_id, r.received_at, r.changed_fields,
  v.verdict, v.state as verdict_state, v.until as verdict_until,
  (select count(*)::int from kyc_former_records f where f.application_id = a.application_id) as former_versions,
  array(select o.application_id from kyc_records o
        where o.tax_id_fingerprint = r.tax_id_fingerprint and o.application_id <> a.application_id
        order by o.application_id) as same_tax_id`;

const tables = (sql: Queryable) => sql`applications a
  left join kyc_states s using (application_id)
  left join content_providers p on p.application_id = a.application_id and p.replaced_at is null
  left join kyc_records r on r.application_id = a.application_id
  left join content_providers rp on rp.application_id = r.application_id and rp.cp_id = r.cp_id
  left join lateral (
    select verdict, coalesce(ended_at, expires_at) as until, ended_at is null and expires_at > now() as stands,
           case when ended_at is not null then ended_as when expires_at <= now() then 'expired' else 'standing' end as state
    from kyc_verdicts where application_id = a.application_id order by verdict_id desc limit 1
  ) v on true`;

/** Finds a developer, also that of a removed application. */
export const findDeveloper = (sql: Queryable, application_id: string): Promise<Developer | undefined> =>
  firstRow(sql<Developer[]>`
    select ${columns(sql)} from ${tables(sql)} where a.application_id = ${application_id}`);

export const DEVELOPER_SORTS = ['application_id', 'received_at', 'pulled_at'] as const;
/**
 * `waiting`: the record of the current cp_id is stored, and no verdict on it stands. `changed`: such a record, if its
 * change ended the last verdict.
 */
export const VERDICT_CONDITIONS = ['waiting', 'changed', ...VERDICTS] as const;
type VerdictCondition = (typeof VERDICT_CONDITIONS)[number];

/** Does the record wait for a verdict, or does this verdict stand? */
const isVerdict = (sql: Queryable, verdict: VerdictCondition) => {
  if (verdict !== 'waiting' && verdict !== 'changed') return sql`v.stands and v.verdict = ${verdict}`;
  const why = verdict === 'changed' ? sql`v.state = 'changed'` : sql`v.stands is not true`;
  return sql`a.status <> 'removed' and r.cp_id = p.cp_id and ${why}`;
};

type DeveloperFilter = {
  state?: KycState | undefined;
  verdict?: VerdictCondition | undefined;
  /** Only those whose application sends a new cp_id, which waits to be accepted. */
  new_cp_id?: boolean | undefined;
  search?: string | undefined;
};

/** Reads one page of the developers. A removed application is listed while it has a record. */
export const listDeveloperPage = (
  sql: Queryable,
  { state, verdict, new_cp_id, search }: DeveloperFilter,
  page: ListPage<(typeof DEVELOPER_SORTS)[number]>,
) => {
  const sorts = {
    application_id: sql`a.application_id`,
    received_at: sql`coalesce(r.received_at, '-infinity')`,
    pulled_at: sql`coalesce(s.pulled_at, '-infinity')`,
  };
  return readListPage<Developer>(sql, page, {
    columns: columns(sql),
    from: sql`${tables(sql)} ${where(sql, [
      sql`(a.status <> 'removed' or r.application_id is not null)`,
      state && sql`coalesce(s.state, 'pending') = ${state}`,
      verdict && isVerdict(sql, verdict),
      new_cp_id && sql`s.refused_cp_id is not null and a.status <> 'removed'`,
      search !== undefined && contains(sql, search, ['a.application_id', 'a.name']),
    ])}`,
    sort_by: sorts[page.sort],
    id: sql`a.application_id`,
  });
};

/** Counts the developers in each state, and those who wait for a verdict. */
export const countDevelopers = (sql: Queryable): Promise<Record<KycState | 'waiting', number>> =>
  onlyRow(sql<Record<KycState | 'waiting', number>[]>`
    select count(*) filter (where waits)::int as waiting,
           count(*) filter (where state = 'pending')::int as pending,
           count(*) filter (where state = 'sealed')::int as sealed,
           count(*) filter (where state = 'not_provided')::int as not_provided,
           count(*) filter (where state = 'cp_id_changed')::int as cp_id_changed,
           count(*) filter (where state = 'failed')::int as failed,
           count(*) filter (where state = 'erased')::int as erased
    from (select coalesce(s.state, 'pending') as state, ${isVerdict(sql, 'waiting')} as waits
          from ${tables(sql)} where a.status <> 'removed') now`);

export type FormerRecord = {
  record_id: string;
  received_at: Date;
  replaced_at: Date;
  changed_fields: string[];
};

/** Reads one page of the former versions of a record. */
export const listFormerRecordPage = (
  sql: Queryable,
  { application_id }: { application_id: string },
  page: ListPage<'replaced_at'>,
) =>
  readListPage<FormerRecord>(sql, page, {
    columns: sql`record_id, received_at, replaced_at, changed_fields`,
    from: sql`kyc_former_records where application_id = ${application_id}`,
    sort_by: sql`replaced_at`,
    id: sql`record_id`,
  });
