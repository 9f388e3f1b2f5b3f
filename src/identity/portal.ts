/** How an application's developer signs in at the portal: by an API token of the application, exchanged for a session. */
import { normalizeIP } from '@fastify/rate-limit';
import type { Database } from '#db/client.ts';
import { recordAudit } from '#db/queries/audit.ts';
import {
  deletePortalSession,
  findPortalSession,
  insertPortalSession,
  type PortalUser,
} from '#db/queries/portal-sessions.ts';
import { forgetAttempts } from '#db/queries/sign-in.ts';
import { findPresentedToken } from '#db/queries/tokens.ts';
import { mayRecordUnknown, recordKnownRefusal } from '#src/identity/refusals.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';
import { countAttempt } from '#src/identity/sign-in.ts';
import { hashApiToken, isApiToken } from '#src/rules/api-token.ts';

export type PortalSignIn =
  | { kind: 'signed_in'; session: string }
  /** `operator`: the token is valid, but belongs to no application. */
  | { kind: 'refused'; why: 'unknown' | 'ended' | 'operator' }
  | { kind: 'too_many'; waitSeconds: number };

/** Sign-ins by one token within the window of attempts. Each is an entry of the audit log, which is never deleted. */
export const SIGN_INS_MAX = 30;

/** Exchanges a token for a session of its application. The token itself is not stored. */
export const signInByToken = async (sql: Database, token: string, address: string): Promise<PortalSignIn> => {
  const keys = [`portal:${normalizeIP(address)}`];
  const waitSeconds = await countAttempt(sql, keys);
  if (waitSeconds > 0) return { kind: 'too_many', waitSeconds };
  const found = isApiToken(token) ? await findPresentedToken(sql, hashApiToken(token)) : undefined;
  if (found === undefined || found.ended || found.application_id === null) {
    const whyKnown = found?.ended ? 'ended' : 'operator';
    const why = found === undefined ? 'unknown' : whyKnown;
    const entry = {
      actor: found?.application_id ?? 'unknown',
      actor_kind: 'application',
      action: 'session.refuse',
      subject: found === undefined ? 'token:unknown' : `token:${found.token_id}`,
      reason: `portal: ${why} token`,
      details: { address },
    } as const;
    if (found !== undefined) await recordKnownRefusal(sql, entry);
    else if (await mayRecordUnknown(sql)) await recordAudit(sql, [entry]);
    return { kind: 'refused', why };
  }
  const { application_id, token_id } = found;
  const tokenWaitS = await countAttempt(sql, [`token:${token_id}`], SIGN_INS_MAX);
  if (tokenWaitS > 0) return { kind: 'too_many', waitSeconds: tokenWaitS };
  const session = createSecret();
  await sql.begin(async (tx) => {
    await forgetAttempts(tx, keys);
    await insertPortalSession(tx, hashSecret(session), token_id);
    await recordAudit(tx, [
      {
        actor: application_id,
        actor_kind: 'application',
        action: 'session.sign_in',
        subject: `token:${token_id}`,
        details: { by: 'token', address },
      },
    ]);
  });
  return { kind: 'signed_in', session };
};

export const readPortalSession = async (
  sql: Database,
  session: string | undefined,
  touch: boolean,
): Promise<PortalUser | undefined> =>
  session === undefined ? undefined : findPortalSession(sql, hashSecret(session), touch);

export const signOutOfPortal = (sql: Database, session: string): Promise<void> =>
  deletePortalSession(sql, hashSecret(session));
