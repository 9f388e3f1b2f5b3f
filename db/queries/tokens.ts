import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { apiTokens } from '#db/schema/api-tokens.ts';

export type ApiTokenRow = InferSelectModel<typeof apiTokens>;
export type ApiToken = Omit<ApiTokenRow, 'token_hash'>;

/** What a call needs to know of the token it came with. */
export type PresentedToken = {
  token_id: string;
  application_id: string | null;
  /** Expired, revoked, or of an application that was removed. */
  ended: boolean;
  /** Was its last use recorded within the last minute? */
  recently_used: boolean;
};

/** @returns false when there is no such application in service: nothing is written. */
export const insertToken = async (
  sql: Queryable,
  token: Pick<ApiTokenRow, 'token_id' | 'token_hash' | 'application_id' | 'name' | 'expires_at'>,
): Promise<boolean> => {
  const rows = await sql`
    insert into api_tokens (token_id, token_hash, application_id, name, expires_at)
    select ${token.token_id}, ${token.token_hash}, ${token.application_id}::text, ${token.name}, ${token.expires_at}
    where ${token.application_id}::text is null or exists (
      select 1 from applications where application_id = ${token.application_id} and status <> 'removed' for share)
    returning token_id`;
  return rows.length === 1;
};

export const listTokens = (sql: Queryable): Promise<ApiToken[]> =>
  sql<ApiToken[]>`
    select token_id, application_id, name, created_at, expires_at, revoked_at, last_used_at
    from api_tokens order by token_id`;

/** From the next call on the token is refused. @returns false when there is no such token. */
export const revokeToken = async (sql: Queryable, token_id: string): Promise<boolean> => {
  const rows = await sql`
    update api_tokens set revoked_at = coalesce(revoked_at, now()) where token_id = ${token_id}
    returning token_id`;
  return rows.length === 1;
};

/**
 * Asked on every call, each by a unique index: as a join, Postgres reads all of them when it was planned while there were
 * few. A token that was revoked is refused at once.
 * @param token_hashes in hexadecimal @returns in their order; undefined where there is no such token
 */
export const findPresentedTokens = async (
  sql: Queryable,
  token_hashes: readonly string[],
): Promise<(PresentedToken | undefined)[]> => {
  const rows = await sql<(PresentedToken & { nth: number })[]>`
    select asked.nth, t.token_id, t.application_id,
           t.revoked_at is not null or coalesce(t.expires_at <= now(), false) or coalesce(
             (select a.status = 'removed' from applications a where a.application_id = t.application_id), false) as ended,
           coalesce(t.last_used_at > now() - interval '1 minute', false) as recently_used
    from unnest(${token_hashes as string[]}::text[]) with ordinality as asked (token_hash, nth)
    cross join lateral (
      select token_id, application_id, revoked_at, expires_at, last_used_at from api_tokens
      where token_hash = decode(asked.token_hash, 'hex') limit 1
    ) as t`;
  const found = new Map(rows.map((row) => [row.nth, row]));
  return token_hashes.map((_, index) => found.get(index + 1));
};

/** Once a minute is enough: of many calls at the same time one writes. */
export const recordTokenUse = async (sql: Queryable, token_id: string): Promise<void> => {
  await sql`
    update api_tokens set last_used_at = now()
    where token_id = ${token_id} and coalesce(last_used_at <= now() - interval '1 minute', true)`;
};
