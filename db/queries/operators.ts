import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { isSessionOpen } from '#db/queries/sign-in.ts';
import { firstRow, isOneRow, readValue } from '#db/rows.ts';
import type { operators } from '#db/schema/identity.ts';
import { contains, where } from '#db/where.ts';
import { RESERVED_LOGINS } from '#src/contract/operators.ts';
import type { Role } from '#src/contract/roles.ts';

export type OperatorRow = InferSelectModel<typeof operators>;
/** An operator as pages and commands show it: without the password's hash and the id at the OIDC provider. */
export type Operator = Pick<
  OperatorRow,
  'login' | 'name' | 'roles' | 'status' | 'created_at' | 'last_sign_in_at'
> & {
  signs_in_by: 'password' | 'oidc' | 'link';
  open_sessions: number;
};

/** Roles with which an operator can be the second person. `second_person_from` repeats them. */
export const SECOND_PERSONS: readonly Role[] = ['kyc_officer', 'reviewer'];

/** Adds an operator. @param operator.atOnce see `startCounting` @returns false if the login or the `oidc_subject` is already in use */
export const insertOperator = (
  sql: Queryable,
  operator: { login: string; name: string; roles: readonly Role[]; oidc_subject?: string; atOnce?: boolean },
): Promise<boolean> =>
  isOneRow(sql`
    insert into operators (login, name, roles, oidc_subject, counts_at)
    values (${operator.login}, ${operator.name}, ${operator.roles as Role[]}, ${operator.oidc_subject ?? null},
            second_person_from(${operator.login}, ${operator.roles as Role[]}, ${operator.atOnce ?? false}))
    on conflict do nothing`);

/** @returns another login that looks like this one, as `kirn` and `k1m` like `kim` */
export const findLookalike = (sql: Queryable, login: string): Promise<string | undefined> =>
  readValue(sql<{ login: string }[]>`
    with logins as (
      select login, translate(replace(replace(login, 'rn', 'm'), 'vv', 'w'), '01i._-', 'oll') as shape
      from (select login from operators union select unnest(${[login, ...RESERVED_LOGINS]}::text[])) as l
    )
    select o.login from logins o join logins n using (shape) where n.login = ${login} and o.login <> n.login limit 1`);

/** The roles that an operator gains by a change, but for that of a viewer, who makes and approves no request. */
export const rolesGained = (roles: readonly Role[], before: readonly Role[]): Role[] =>
  roles.filter((role) => role !== 'viewer' && !before.includes(role));

/**
 * Sets when the operator begins to count as one of two persons for these roles: after a day.
 * @param atOnce the operator counts now, unless two others who have the role count already
 */
export const startCounting = async (
  sql: Queryable,
  login: string,
  roles: readonly Role[],
  atOnce: boolean,
): Promise<void> => {
  await sql`
    update operators set counts_at = second_person_from(login, ${roles as Role[]}, ${atOnce}) where login = ${login}`;
};

export const findOperator = (sql: Queryable, login: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where login = ${login}`);

/** Locks the operator until the transaction ends. */
export const lockOperator = (sql: Queryable, login: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where login = ${login} for update`);

/** The columns of an operator that acts of administrators read, without the password's hash. */
export type OperatorState = Pick<OperatorRow, 'login' | 'roles' | 'status' | 'oidc_subject'>;

/** The same as `lockOperator` for a process that reads no hash. */
export const lockOperatorState = (sql: Queryable, login: string): Promise<OperatorState | undefined> =>
  firstRow(sql<OperatorState[]>`
    select login, roles, status, oidc_subject from operators where login = ${login} for update`);

/** Reads what `lockOperatorState` locks. */
export const readOperatorState = (sql: Queryable, login: string): Promise<OperatorState | undefined> =>
  firstRow(sql<OperatorState[]>`
    select login, roles, status, oidc_subject from operators where login = ${login}`);

/** Locks the operator whom the OIDC provider knows by this subject, until the transaction ends. */
export const lockOperatorBySubject = (sql: Queryable, subject: string): Promise<OperatorRow | undefined> =>
  firstRow(sql<OperatorRow[]>`select * from operators where oidc_subject = ${subject} for update`);

const operatorColumns = (sql: Queryable) => sql`
  login, name, roles, status, created_at, last_sign_in_at,
  case when oidc_subject is not null then 'oidc' when has_password then 'password'
       else 'link' end as signs_in_by,
  (select count(*)::int from operator_sessions s where s.login = o.login and ${isSessionOpen(sql)}) as open_sessions`;

/** Finds an operator as pages and commands show it. */
export const findOperatorItem = (sql: Queryable, login: string): Promise<Operator | undefined> =>
  firstRow(sql<Operator[]>`select ${operatorColumns(sql)} from operators o where login = ${login}`);

export const OPERATOR_SORTS = ['login', 'name', 'created_at', 'last_sign_in_at'] as const;
type OperatorFilter = {
  role?: Role | undefined;
  status?: OperatorRow['status'] | undefined;
  /** Part of the login or the name, in any case. */
  search?: string | undefined;
};

/** Reads one page of the operators. */
export const listOperatorPage = (
  sql: Queryable,
  { role, status, search }: OperatorFilter,
  page: ListPage<(typeof OPERATOR_SORTS)[number]>,
) =>
  readListPage<Operator>(sql, page, {
    columns: operatorColumns(sql),
    from: sql`operators o ${where(sql, [
      role && sql`${role} = any(roles)`,
      status !== undefined && sql`status = ${status}`,
      search !== undefined && contains(sql, search, ['login', 'name']),
    ])}`,
    sort_by:
      page.sort === 'last_sign_in_at' ? sql`coalesce(last_sign_in_at, '-infinity')` : sql`${sql(page.sort)}`,
    id: sql`login`,
  });

/** Changes these columns. @returns false if there is no such operator */
export const updateOperator = (
  sql: Queryable,
  login: string,
  changes: Partial<
    Pick<OperatorRow, 'name' | 'roles' | 'status' | 'password_hash' | 'last_sign_in_at' | 'single_keys'>
  >,
): Promise<boolean> => isOneRow(sql`update operators set ${sql(changes as never)} where login = ${login}`);
