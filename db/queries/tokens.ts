import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow } from '#db/rows.ts';
import type { apiTokens } from '#db/schema/api-tokens.ts';
import { contains, where } from '#db/where.ts';

export type ApiTokenRow = InferSelectModel<typeof apiTokens>;
export type ApiToken = Omit<ApiTokenRow, 'token_hash'>;

/** The state of a token that a call presents. */
export type PresentedToken = {
  token_id: string;
  application_id: string | null;
  /** True if the token has expired or is revoked, or its application is removed. */
  ended: boolean;
  /** True if `last_used_at` is less than a minute old. */
  recently_used: boolean;
};

/** @returns false if the application does not exist or is removed; then nothing is written */
export const insertToken = (
  sql: Queryable,
  token: Pick<ApiTokenRow, 'token_id' | 'token_hash' | 'application_id' | 'name' | 'expires_at'>,
): Promise<boolean> =>
  isOneRow(sql`
    insert into api_tokens (token_id, token_hash, application_id, name, expires_at)
    select ${token.token_id}, ${token.token_hash}, ${token.application_id}::text, ${token.name}, ${token.expires_at}
    where ${token.application_id}::text is null or exists (
      select 1 from applications where application_id = ${token.application_id} and status <> 'removed' for share)`);

export const TOKEN_SORTS = ['created_at', 'name', 'expires_at', 'last_used_at'] as const;

/** Reads one page of the tokens. @param application_id null: tokens of operators; undefined: all */
export const listTokenPage = (
  sql: Queryable,
  { application_id, search }: { application_id?: string | null | undefined; search?: string | undefined },
  page: ListPage<(typeof TOKEN_SORTS)[number]>,
) => {
  const sorts = {
    created_at: sql`created_at`,
    name: sql`name`,
    expires_at: sql`coalesce(expires_at, 'infinity')`,
    last_used_at: sql`coalesce(last_used_at, '-infinity')`,
  };
  return readListPage<ApiToken>(sql, page, {
    columns: sql`token_id, application_id, name, created_at, expires_at, revoked_at, last_used_at`,
    from: sql`api_tokens ${where(sql, [
      application_id !== undefined && sql`application_id is not distinct from ${application_id}`,
      search !== undefined && contains(sql, search, ['name']),
    ])}`,
    sort_by: sorts[page.sort],
    id: sql`token_id`,
  });
};

/** Revokes a token; the next call with it is refused. @returns false if there is no such token */
export const revokeToken = (sql: Queryable, token_id: string): Promise<boolean> =>
  isOneRow(sql`
    update api_tokens set revoked_at = coalesce(revoked_at, now()) where token_id = ${token_id}`);

/** @param token_hash SHA-256 of the token @returns undefined if there is no such token */
export const findPresentedToken = (sql: Queryable, token_hash: Buffer) =>
  firstRow(sql<PresentedToken[]>`
    select token_id, application_id,
           revoked_at is not null or coalesce(expires_at <= now(), false) or coalesce(
             (select status = 'removed' from applications a where a.application_id = t.application_id), false) as ended,
           coalesce(last_used_at > now() - interval '1 minute', false) as recently_used
    from api_tokens t where token_hash = ${token_hash}`);

/** Writes `last_used_at`, at most once a minute. Of concurrent calls only one writes. */
export const recordTokenUse = async (sql: Queryable, token_id: string): Promise<void> => {
  await sql`
    update api_tokens set last_used_at = now()
    where token_id = ${token_id} and coalesce(last_used_at <= now() - interval '1 minute', true)`;
};

/** Revokes every token of an application. */
export const revokeTokensOf = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`
    update api_tokens set revoked_at = now() where application_id = ${application_id} and revoked_at is null`;
};
