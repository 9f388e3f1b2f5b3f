import type { Queryable } from '#db/client.ts';
import type { KycStateRow } from '#db/queries/kyc.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow } from '#db/rows.ts';
import { contains, where } from '#db/where.ts';
import type { KycState } from '#src/contract/words.ts';

export type KycOverview = Pick<KycStateRow, 'application_id' | 'state' | 'reason' | 'asked_at'> & {
  cp_id: string | null;
  application_cp_id: string | null;
  /** The `cp_id` that waits to be accepted. */
  refused_cp_id: string | null;
  received_at: Date | null;
  /** Fields that the current record changed: empty for a first record, null without a record. */
  changed_fields: string[] | null;
  former_versions: number;
  /** Other applications with the same tax id. */
  same_tax_id: string[];
};

/** Tables and columns of an overview. Fingerprints are compared in the database and do not leave it. */
export const overviewParts = (sql: Queryable) => ({
  tables: sql`applications a
    left join kyc_states s using (application_id)
    left join content_providers p on p.application_id = a.application_id and p.replaced_at is null
    left join kyc_records r on r.application_id = a.application_id`,
  columns: sql`coalesce(s.state, 'pending') as state, s.reason, s.asked_at, p.cp_id, p.application_cp_id,
    s.refused_cp_id, r.received_at, r.changed_fields`,
  formerVersions: sql`
    (select count(*)::int from kyc_former_records f where f.application_id = a.application_id) as former_versions`,
  sameTaxId: sql`
    array(select o.application_id from kyc_records o
          where o.tax_id_fingerprint = r.tax_id_fingerprint and o.application_id <> a.application_id
          order by o.application_id) as same_tax_id`,
});

/** An application's KYC without its record; removed applications are found too. */
export const findKycOverview = (sql: Queryable, application_id: string) => {
  const { tables, columns, formerVersions, sameTaxId } = overviewParts(sql);
  return firstRow(sql<KycOverview[]>`
    select a.application_id, ${columns}, ${formerVersions}, ${sameTaxId}
    from ${tables} where a.application_id = ${application_id}`);
};

export type KycListRow = Omit<KycOverview, 'former_versions'> & { name: string };
type KycFilter = { state?: KycState | undefined; search?: string | undefined };

/** The KYC of every application, without records. */
export const listKycPage = (
  sql: Queryable,
  { state, search }: KycFilter,
  page: ListPage<'application_id'>,
) => {
  const { tables, columns, sameTaxId } = overviewParts(sql);
  return readListPage<KycListRow>(sql, page, {
    columns: sql`a.application_id, a.name, ${columns}, ${sameTaxId}`,
    from: sql`${tables} ${where(sql, [
      sql`a.status <> 'removed'`,
      state && sql`coalesce(s.state, 'pending') = ${state}`,
      search !== undefined && contains(sql, search, ['a.application_id', 'a.name']),
    ])}`,
    sort_by: sql`a.application_id`,
    id: sql`a.application_id`,
  });
};
