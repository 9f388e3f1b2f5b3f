import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow, readValue } from '#db/rows.ts';
import type { apiTokens } from '#db/schema/api-tokens.ts';
import { contains, where } from '#db/where.ts';
import type { Role } from '#src/contract/roles.ts';

type ApiTokenRow = InferSelectModel<typeof apiTokens>;
/** A token of a list, without its hash. */
type ApiToken = Omit<ApiTokenRow, 'token_hash'> & { state: 'valid' | 'expired' | 'revoked' };

/** The state of a token that a call presents. */
export type PresentedToken = Pick<ApiTokenRow, 'token_id' | 'application_id' | 'login'> & {
  /** An operator's token has the roles that the operator still has; an application's has none. */
  roles: Role[];
  /** True if the token has expired or is revoked, its application is removed or its operator disabled. */
  ended: boolean;
  /** True if `last_used_at` is less than a minute old. */
  recently_used: boolean;
};

type NewToken = Pick<ApiTokenRow, 'token_id' | 'token_hash' | 'application_id' | 'name' | 'expires_at'> &
  Partial<Pick<ApiTokenRow, 'login' | 'roles'>>;

/** @returns false if its application is removed, its operator disabled, or neither exists; then nothing is written */
export const insertToken = async (sql: Queryable, token: NewToken): Promise<boolean> => {
  const { login = null, roles = null, ...others } = token;
  const isActive = await isOneRow(
    login === null
      ? sql`select from applications where application_id = ${others.application_id} and status <> 'removed' for share`
      : sql`select from operators where login = ${login} and status = 'active' for share`,
  );
  // The operator API may not write the columns of an operator's token.
  if (isActive)
    await sql`insert into api_tokens ${sql(login === null ? others : { ...others, login, roles })}`;
  return isActive;
};

export const TOKEN_SORTS = ['created_at', 'name', 'expires_at', 'last_used_at'] as const;

type TokenFilter = { [Field in 'application_id' | 'login' | 'search']?: string | undefined };

/** Reads one page of the tokens. */
export const listTokenPage = (
  sql: Queryable,
  { application_id, login, search }: TokenFilter,
  page: ListPage<(typeof TOKEN_SORTS)[number]>,
) => {
  const sorts = {
    created_at: sql`created_at`,
    name: sql`name`,
    expires_at: sql`coalesce(expires_at, 'infinity')`,
    last_used_at: sql`coalesce(last_used_at, '-infinity')`,
  };
  return readListPage<ApiToken>(sql, page, {
    columns: sql`
      token_id, application_id, login, roles, name, created_at, expires_at, revoked_at, last_used_at,
      case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'valid' end as state`,
    from: sql`api_tokens ${where(sql, [
      application_id !== undefined && sql`application_id = ${application_id}`,
      login !== undefined && sql`login = ${login}`,
      search !== undefined && contains(sql, search, ['name']),
    ])}`,
    sort_by: sorts[page.sort],
    id: sql`token_id`,
  });
};

/**
 * Revokes a token; the next call with it is refused.
 * @param login absent: the token of any operator @returns false if it was revoked before; undefined if there is no such token
 */
export const revokeToken = (sql: Queryable, token_id: string, login?: string): Promise<boolean | undefined> =>
  readValue(sql<{ is_new: boolean }[]>`
    update api_tokens t set revoked_at = coalesce(t.revoked_at, now()) from api_tokens before
    where t.token_id = ${token_id} and before.token_id = t.token_id
      and (${login === undefined} or t.login = ${login ?? ''})
    returning before.revoked_at is null as is_new`);

/** Was the last use written within this minute? A time further ahead, which a stolen login may leave, is none. */
const isRecent = (sql: Queryable) =>
  sql`coalesce(last_used_at between now() - interval '1 minute' and now() + interval '1 minute', false)`;

/** @param token_hash SHA-256 of the token @returns undefined if there is no such token */
export const findPresentedToken = (sql: Queryable, token_hash: Buffer) =>
  // Without a join, because a plan that is made while the tables are empty would read every token for it.
  firstRow(sql<PresentedToken[]>`
    select token_id, application_id, login,
           coalesce((select array(select unnest(t.roles) intersect select unnest(o.roles))
                     from operators o where o.login = t.login), '{}') as roles,
           revoked_at is not null or coalesce(expires_at <= now(), false)
             or coalesce((select status = 'disabled' from operators o where o.login = t.login), false)
             or coalesce((select status = 'removed' from applications a where a.application_id = t.application_id),
                         false) as ended,
           ${isRecent(sql)} as recently_used
    from api_tokens t where token_hash = ${token_hash}`);

/** Is this token revoked or expired now? `now()` would be when the transaction began. */
export const hasTokenEnded = (sql: Queryable, token_id: string): Promise<boolean> =>
  isOneRow(sql`
    select from api_tokens
    where token_id = ${token_id} and (revoked_at is not null or expires_at <= clock_timestamp())`);

/** Writes `last_used_at`, at most once a minute. Of concurrent calls only one writes. */
export const recordTokenUse = async (sql: Queryable, token_id: string): Promise<void> => {
  await sql`
    update api_tokens set last_used_at = now()
    where token_id = ${token_id} and not ${isRecent(sql)}`;
};

/** Revokes every token of an application or an operator. @returns how many */
export const revokeTokensOf = async (
  tx: Queryable,
  owner: { application_id: string } | { login: string },
): Promise<number> => {
  const revoked = await tx`
    update api_tokens set revoked_at = now() where revoked_at is null
    and ${'login' in owner ? tx`login = ${owner.login}` : tx`application_id = ${owner.application_id}`}`;
  return revoked.count;
};
