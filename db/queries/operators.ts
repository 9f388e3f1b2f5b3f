import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type Listed, type ListPage, readListPage } from '#db/queries/list-page.ts';
import { containsPattern, firstRow, isOneRow } from '#db/rows.ts';
import type { operators } from '#db/schema/identity.ts';
import type { Role } from '#src/contract/roles.ts';

export type OperatorRow = InferSelectModel<typeof operators>;
/** An operator as pages and commands show it: without the hash of the password. */
export type Operator = Omit<OperatorRow, 'password_hash' | 'oidc_subject'> & {
  signs_in_by: 'password' | 'oidc' | 'link';
  open_sessions: number;
};

/** @returns false when the login is taken */
export const insertOperator = (
  sql: Queryable,
  operator: { login: string; name: string; roles: readonly Role[]; oidc_subject?: string },
): Promise<boolean> =>
  isOneRow(sql`
    insert into operators (login, name, roles, oidc_subject)
    values (${operator.login}, ${operator.name}, ${operator.roles as Role[]}, ${operator.oidc_subject ?? null})
    on conflict do nothing`);

export const findOperator = (sql: Queryable, login: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where login = ${login}`);

/** Locks the operator until the transaction ends. */
export const lockOperator = (sql: Queryable, login: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where login = ${login} for update`);

export const lockOperatorBySubject = (sql: Queryable, subject: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where oidc_subject = ${subject} for update`);

const operatorColumns = (sql: Queryable) => sql`
  login, name, roles, status, created_at, last_sign_in_at,
  case when oidc_subject is not null then 'oidc' when password_hash is not null then 'password'
       else 'link' end as signs_in_by,
  (select count(*)::int from operator_sessions s where s.login = o.login
     and s.started_at > now() - interval '12 hours' and s.seen_at > now() - interval '30 minutes') as open_sessions`;

export const listOperators = (sql: Queryable): Promise<Operator[]> =>
  sql<Operator[]>`select ${operatorColumns(sql)} from operators o order by login`;

export const OPERATOR_SORTS = ['login', 'name', 'created_at', 'last_sign_in_at'] as const;
type OperatorFilter = {
  role?: Role | undefined;
  status?: OperatorRow['status'] | undefined;
  /** Part of the login or the name, in any case. */
  search?: string | undefined;
};

/** Read one page of the operators. */
export const listOperatorPage = (
  sql: Queryable,
  { role, status, search }: OperatorFilter,
  page: ListPage<(typeof OPERATOR_SORTS)[number]>,
): Promise<Listed<Operator>> => {
  const sorts = {
    login: sql`login`,
    name: sql`name`,
    created_at: sql`created_at`,
    last_sign_in_at: sql`coalesce(last_sign_in_at, '-infinity')`,
  };
  return readListPage<Operator>(sql, page, {
    columns: operatorColumns(sql),
    from: sql`operators o
      where ${role === undefined ? sql`true` : sql`${role} = any(roles)`}
        and ${status === undefined ? sql`true` : sql`status = ${status}`}
        and ${search === undefined ? sql`true` : sql`(login ilike ${containsPattern(search)} or name ilike ${containsPattern(search)})`}`,
    sort_by: sorts[page.sort],
    id: sql`login`,
  });
};

export const updateOperator = (
  sql: Queryable,
  login: string,
  changes: Partial<Pick<OperatorRow, 'name' | 'roles' | 'status' | 'password_hash' | 'last_sign_in_at'>>,
): Promise<boolean> => isOneRow(sql`update operators set ${sql(changes as never)} where login = ${login}`);
