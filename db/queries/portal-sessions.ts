import type { Queryable } from '#db/client.ts';
import { isSessionOpen } from '#db/queries/sign-in.ts';
import { firstRow, isOneRow } from '#db/rows.ts';

/** The holder of a token who is signed in at the portal, for its application. `name` is that of the application. */
export type PortalUser = { application_id: string; name: string; token_id: string; token_name: string };

/** Adds a session. */
export const insertPortalSession = async (tx: Queryable, session_hash: Buffer, token_id: string) => {
  await tx`insert into portal_sessions (session_hash, token_id) values (${session_hash}, ${token_id})`;
};

/**
 * Finds the holder of a session. A session ends when its token expires or is revoked, or its application is removed.
 * @param touch records that the session is used; false for requests that a page sends by itself
 */
export const findPortalSession = (sql: Queryable, session_hash: Buffer, touch: boolean) =>
  firstRow(sql<PortalUser[]>`
    with session as (
      select s.session_hash, s.seen_at, a.application_id, a.name, t.token_id, t.name as token_name
      from portal_sessions s join api_tokens t using (token_id) join applications a using (application_id)
      where s.session_hash = ${session_hash} and a.status <> 'removed'
        and t.revoked_at is null and coalesce(t.expires_at > now(), true)
        and ${isSessionOpen(sql)}
    ), touched as (
      update portal_sessions s set seen_at = now() from session
      where ${touch} and s.session_hash = session.session_hash and session.seen_at < now() - interval '1 minute'
    )
    select application_id, name, token_id, token_name from session`);

/** Has this session ended by a sign-out? */
export const hasPortalSessionEnded = async (sql: Queryable, session_hash: Buffer): Promise<boolean> =>
  !(await isOneRow(sql`select from portal_sessions where session_hash = ${session_hash}`));

export const deletePortalSession = async (sql: Queryable, session_hash: Buffer): Promise<void> => {
  await sql`delete from portal_sessions where session_hash = ${session_hash}`;
};
