/** API tokens, with their entries in the audit log. */
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { type ApiTokenRow, insertToken, revokeToken } from '#db/queries/tokens.ts';

/** @returns false if the application does not exist or is removed; then nothing is written */
export const createToken = (
  sql: Database,
  actor: Actor,
  token: Pick<ApiTokenRow, 'token_id' | 'token_hash' | 'application_id' | 'name' | 'expires_at'>,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    const { token_id, application_id, name, expires_at } = token;
    if (!(await insertToken(tx, token))) return false;
    const details = { application_id, name, expires_at };
    await recordAudit(tx, [{ ...actor, action: 'token.create', subject: `token:${token_id}`, details }]);
    return true;
  }) as Promise<boolean>;

/** Revokes a token. @returns false if there is no such token */
export const endToken = (sql: Database, actor: Actor, token_id: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    if (!(await revokeToken(tx, token_id))) return false;
    await recordAudit(tx, [{ ...actor, action: 'token.revoke', subject: `token:${token_id}` }]);
    return true;
  }) as Promise<boolean>;
