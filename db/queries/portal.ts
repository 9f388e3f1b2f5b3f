/** Sessions of the portal, and the games and failures of one application that it shows. */
import type { Queryable } from '#db/client.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import type { GameRow } from '#db/queries/games.ts';
import { isSessionOpen } from '#db/queries/sign-in.ts';
import { firstRow, onlyValue } from '#db/rows.ts';
import { where } from '#db/where.ts';
import type { AuditStatus } from '#src/contract/words.ts';

/** The holder of a token who is signed in at the portal, for its application. `name` is that of the application. */
export type Holder = { application_id: string; name: string; token_id: string; token_name: string };

/** Adds a session, and deletes the expired ones. */
export const insertPortalSession = async (tx: Queryable, session_hash: Buffer, token_id: string) => {
  await tx`delete from portal_sessions s where not (${isSessionOpen(tx)})`;
  await tx`insert into portal_sessions (session_hash, token_id) values (${session_hash}, ${token_id})`;
};

/**
 * Finds the holder of a session. A session ends when its token expires or is revoked, or its application is removed.
 * @param touch records that the session is used; false for requests that a page sends by itself
 */
export const findPortalSession = (sql: Queryable, session_hash: Buffer, touch: boolean) =>
  firstRow(sql<Holder[]>`
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

export const deletePortalSession = async (sql: Queryable, session_hash: Buffer): Promise<void> => {
  await sql`delete from portal_sessions where session_hash = ${session_hash}`;
};

/** A game. `reason_label` and `text` are those of its rejection; null if it is not rejected. */
export type PortalGame = Pick<
  GameRow,
  'game_id' | 'application_game_id' | 'game_name' | 'audit_status' | 'audit_time' | 'revision' | 'updated_at'
> & { reason_label: string | null; text: string | null };

/**
 * Lists the games of an application that have this status and are not withdrawn, newest first.
 * @param page.before the last `game_id` of the page before
 */
export const listPortalGames = (
  sql: Queryable,
  application_id: string,
  page: { status: AuditStatus; before: string | undefined; limit: number },
): Promise<PortalGame[]> =>
  // The index of `game.listByAuditStatus` has the games: db/queries/api-games.ts explains the array comparison.
  sql<PortalGame[]>`
    select g.game_id, g.application_game_id, g.game_name, g.audit_status, g.audit_time, g.revision, g.updated_at,
           (select label from reasons where code = rejection.reason) as reason_label, rejection.text
    from (
      select * from games
      ${where(sql, [
        sql`application_id = any (array[${application_id}]) and audit_status = ${page.status}`,
        sql`withdrawn_at is null`,
        page.before !== undefined && sql`game_id < ${page.before}`,
      ])}
      order by application_id desc, game_id desc limit ${page.limit}
    ) g
    left join lateral standing_decision(${page.status === 'rejected' ? sql`g.game_id` : sql`null`}) rejection on true
    order by g.game_id desc`;

/** A game that the application's list no longer names. */
export type WithdrawnGame = Pick<
  GameRow,
  'game_id' | 'application_game_id' | 'game_name' | 'audit_status' | 'unlisted_at'
> & { withdrawn_at: Date };

/**
 * Lists the withdrawn games of an application, last withdrawn first.
 * @param page.before the last `game_id` of the page before; it may have returned since
 */
export const listWithdrawnGames = (
  sql: Queryable,
  application_id: string,
  page: { before: string | undefined; limit: number },
): Promise<WithdrawnGame[]> =>
  sql<WithdrawnGame[]>`
    select game_id, application_game_id, game_name, audit_status, unlisted_at, withdrawn_at from games
    ${where(sql, [
      sql`application_id = ${application_id} and withdrawn_at is not null`,
      page.before !== undefined &&
        sql`(withdrawn_at, game_id) < (
          select coalesce(g.withdrawn_at, (select max(withdrawn_at) from game_absences where game_id = g.game_id)),
                 g.game_id
          from games g where g.game_id = ${page.before} and g.application_id = ${application_id})`,
    ])}
    order by withdrawn_at desc, game_id desc limit ${page.limit}`;

/** Counts the withdrawn games of an application, at most `max`. */
export const countWithdrawnGames = (sql: Queryable, application_id: string, max: number) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from games where application_id = ${application_id} and withdrawn_at is not null limit ${max}) withdrawn`);

/** Lists the open failures of an application, latest first. */
export const listPortalFailures = (sql: Queryable, application_id: string, limit: number) =>
  sql<FailureRow[]>`
    select * from ingest_failures where application_id = ${application_id} order by last_at desc limit ${limit}`;
