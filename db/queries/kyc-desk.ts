/** What the KYC desk lists. */
import type { Queryable } from '#db/client.ts';
import type { KycStateRow } from '#db/queries/kyc.ts';
import { type KycOverview, overviewParts } from '#db/queries/kyc-overview.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import type { KycState } from '#src/contract/words.ts';

/** A developer, known by its application. */
export type Developer = KycOverview & {
  name: string;
  status: 'active' | 'paused' | 'removed';
};

const selectDevelopers = (sql: Queryable) => {
  const { tables, columns, formerVersions, sameTaxId } = overviewParts(sql);
  return sql`
    select a.application_id, a.name, a.status, ${columns}, ${formerVersions}, ${sameTaxId} from ${tables}`;
};

export const DEVELOPER_ORDERS = ['id', 'changed'] as const;
type DeveloperFilter = {
  state?: KycState | undefined;
  search?: string | undefined;
  order: (typeof DEVELOPER_ORDERS)[number];
  page: number;
  limit: number;
};

/** Developers by id, or those whose record changed last first. A removed application is listed while it has a record. */
export const listDevelopers = (sql: Queryable, { state, search, order, page, limit }: DeveloperFilter) =>
  sql<Developer[]>`
    ${selectDevelopers(sql)}
    ${where(sql, [
      sql`(a.status <> 'removed' or r.application_id is not null)`,
      state && sql`coalesce(s.state, 'pending') = ${state}`,
      search !== undefined && contains(sql, search, ['a.application_id', 'a.name']),
    ])}
    order by ${order === 'changed' ? sql`r.received_at desc nulls last,` : sql``} a.application_id
    limit ${limit} offset ${(page - 1) * limit}`;

export const findDeveloper = (sql: Queryable, application_id: string): Promise<Developer | undefined> =>
  firstRow(sql<Developer[]>`
    ${selectDevelopers(sql)} where a.application_id = ${application_id}`);

export type KycCounts = Record<KycState, number>;

/** How many developers are in each state. */
export const countDevelopers = (sql: Queryable): Promise<KycCounts> =>
  onlyRow(sql<KycCounts[]>`
    select count(*) filter (where state = 'pending')::int as pending, count(*) filter (where state = 'sealed')::int as sealed,
           count(*) filter (where state = 'not_provided')::int as not_provided,
           count(*) filter (where state = 'cp_id_changed')::int as cp_id_changed,
           count(*) filter (where state = 'failed')::int as failed, count(*) filter (where state = 'erased')::int as erased
    from (select coalesce(s.state, 'pending') as state from applications a left join kyc_states s using (application_id)
          where a.status <> 'removed') now`);

export type RefusedCpId = Pick<KycStateRow, 'application_id' | 'refused_cp_id' | 'asked_at'>;

/** The cp_ids that wait for a decision, longest first. */
export const listRefusedCpIds = (sql: Queryable, limit: number): Promise<RefusedCpId[]> =>
  sql<RefusedCpId[]>`
    select application_id, refused_cp_id, asked_at from kyc_states join applications a using (application_id)
    where refused_cp_id is not null and a.status <> 'removed' order by asked_at, application_id limit ${limit}`;

export type FormerRecord = {
  record_id: string;
  received_at: Date;
  replaced_at: Date;
  changed_fields: string[];
};

/** Former versions of a record, latest first. */
export const listFormerRecords = (sql: Queryable, application_id: string, limit: number) =>
  sql<FormerRecord[]>`
    select record_id, received_at, replaced_at, changed_fields from kyc_former_records
    where application_id = ${application_id} order by replaced_at desc, record_id desc limit ${limit}`;
