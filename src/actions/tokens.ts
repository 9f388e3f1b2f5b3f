/** API tokens, with their entries in the audit log. */
import type { Database } from '#db/client.ts';
import type { Actor } from '#db/queries/audit.ts';
import { type ApiTokenRow, insertToken, revokeToken } from '#db/queries/tokens.ts';
import { changeAudited } from '#src/actions/audited.ts';

/** @returns false if the application does not exist or is removed; then nothing is written */
export const createToken = (
  sql: Database,
  actor: Actor,
  token: Pick<ApiTokenRow, 'token_id' | 'token_hash' | 'application_id' | 'name' | 'expires_at'>,
): Promise<boolean> => {
  const { token_id, application_id, name, expires_at } = token;
  const entry = { subject: `token:${token_id}`, details: { application_id, name, expires_at } };
  return changeAudited(sql, actor, { action: 'token.create', ...entry }, (tx) => insertToken(tx, token));
};

/** Revokes a token. @returns false if there is no such token */
export const endToken = (sql: Database, actor: Actor, token_id: string): Promise<boolean> =>
  changeAudited(sql, actor, { action: 'token.revoke', subject: `token:${token_id}` }, (tx) =>
    revokeToken(tx, token_id),
  );
