import type { Queryable } from '#db/client.ts';
import { countRows, firstRow, isOneRow, onlyValue, readValue } from '#db/rows.ts';
import type { Role, Site } from '#src/contract/roles.ts';

/** A session of the console or the portal lasts 12 hours at most, and 30 minutes without a request. */
export const SESSION_HOURS = 12;
const IDLE_MINUTES = 30;

/** Who is signed in. */
export type SignedIn = {
  login: string;
  name: string;
  roles: Role[];
  started_at: Date;
  /** Single keys act on this operator's pages. */
  single_keys: boolean;
};

/** The condition under which a session `s`, of an operator or of the portal, has not expired. */
export const isSessionOpen = (sql: Queryable) => sql`
  s.started_at > now() - ${SESSION_HOURS} * interval '1 hour'
  and s.seen_at > now() - ${IDLE_MINUTES} * interval '1 minute'`;

/** @param session.confirmed whether the provider requested the credentials just now */
export const insertSession = async (
  sql: Queryable,
  session_hash: Buffer,
  { login, site, confirmed }: { login: string; site: Site; confirmed: boolean },
) => {
  await sql`
    insert into operator_sessions (session_hash, login, site, confirmed_at)
    values (${session_hash}, ${login}, ${site}, ${confirmed ? sql`now()` : null})`;
};

/** A new confirmation by the provider counts for this time. */
const CONFIRMED_MINUTES = 5;

/** How the operator of a session confirms who it is: by the password, else by a new confirmation of the provider. */
export type ConfirmationMethod = { has_password: boolean; confirmed: boolean };

export const findConfirmationMethod = (sql: Queryable, session_hash: Buffer) =>
  firstRow(sql<ConfirmationMethod[]>`
    select o.password_hash is not null as has_password,
           coalesce(s.confirmed_at > now() - ${CONFIRMED_MINUTES} * interval '1 minute', false) as confirmed
    from operator_sessions s join operators o using (login) where s.session_hash = ${session_hash}`);

/** Uses up the confirmation of a session: of concurrent calls one succeeds. */
export const takeConfirmation = (sql: Queryable, session_hash: Buffer): Promise<boolean> =>
  isOneRow(sql`
    update operator_sessions set confirmed_at = null
    where session_hash = ${session_hash} and confirmed_at > now() - ${CONFIRMED_MINUTES} * interval '1 minute'`);

/**
 * The operator of a session of this site, with the present roles.
 * @param touch records that the session is used; false for requests that a page sends by itself
 */
export const findSession = (sql: Queryable, session_hash: Buffer, site: Site, touch: boolean) =>
  firstRow(sql<SignedIn[]>`
    with session as (
      select s.session_hash, s.started_at, s.seen_at, o.login, o.name, o.roles, o.single_keys
      from operator_sessions s join operators o using (login)
      where s.session_hash = ${session_hash} and s.site = ${site} and o.status = 'active' and ${isSessionOpen(sql)}
    ), touched as (
      update operator_sessions s set seen_at = now() from session
      where ${touch} and s.session_hash = session.session_hash and session.seen_at < now() - interval '1 minute'
    )
    select login, name, roles, started_at, single_keys from session`);

/** Locks a session, so that a statement that ends it waits until this transaction ends. */
export const lockSession = async (tx: Queryable, session_hash: Buffer): Promise<void> => {
  await tx`select from operator_sessions where session_hash = ${session_hash} for update`;
};

/** Has this session ended: by a sign-out, or because its operator was disabled or has a new password? */
export const hasSessionEnded = async (sql: Queryable, session_hash: Buffer): Promise<boolean> =>
  !(await isOneRow(sql`select from operator_sessions where session_hash = ${session_hash}`));

/** @returns the login of the session that ended */
export const deleteSession = (sql: Queryable, session_hash: Buffer) =>
  readValue(sql<{ login: string }[]>`
    delete from operator_sessions where session_hash = ${session_hash} returning login`);

/** @returns how many ended */
export const deleteSessionsOf = (sql: Queryable, login: string) =>
  countRows(sql`delete from operator_sessions where login = ${login}`);

/** A session as its operator sees it. */
export type OwnSession = {
  /** SHA-256 of the session's hash, hexadecimal: neither the cookie nor the stored hash can be computed from it. */
  session_id: string;
  site: Site;
  started_at: Date;
  seen_at: Date;
  is_current: boolean;
};

const sessionId = (sql: Queryable) => sql`encode(sha256(s.session_hash), 'hex')`;

/** The open sessions of an operator, the present one first. @param session_hash of the present one */
export const listSessionsOf = (sql: Queryable, login: string, session_hash: Buffer): Promise<OwnSession[]> =>
  sql<OwnSession[]>`
    select ${sessionId(sql)} as session_id, s.site, s.started_at, s.seen_at, s.session_hash = ${session_hash} as is_current
    from operator_sessions s where s.login = ${login} and ${isSessionOpen(sql)}
    order by is_current desc, s.seen_at desc, s.started_at desc`;

/** Ends a session of this operator. @returns false if the operator has no such open session */
export const deleteSessionById = (sql: Queryable, login: string, session_id: string): Promise<boolean> =>
  isOneRow(sql`
    delete from operator_sessions s
    where s.login = ${login} and ${sessionId(sql)} = ${session_id} and ${isSessionOpen(sql)}`);

/** Ends every session of this operator but one. @returns how many open ones ended */
export const deleteOtherSessions = (sql: Queryable, login: string, session_hash: Buffer) =>
  onlyValue(sql<{ ended: number }[]>`
    with s as (
      delete from operator_sessions where login = ${login} and session_hash <> ${session_hash}
      returning started_at, seen_at
    ) select count(*)::int as ended from s where ${isSessionOpen(sql)}`);

/** Gives a session a new secret, so that copies of its cookie open nothing. @param former of the present secret */
export const replaceSessionHash = async (sql: Queryable, former: Buffer, session_hash: Buffer) => {
  await sql`update operator_sessions set session_hash = ${session_hash} where session_hash = ${former}`;
};

/** A new link replaces the operator's older ones. */
export const insertLink = async (
  sql: Queryable,
  link: { link_hash: Buffer; login: string; sets_password: boolean; lifetime_ms: number },
): Promise<void> => {
  await sql`
    with older as (delete from sign_in_links where login = ${link.login})
    insert into sign_in_links (link_hash, login, sets_password, expires_at)
    values (${link.link_hash}, ${link.login}, ${link.sets_password},
            now() + ${link.lifetime_ms} * interval '1 millisecond')`;
};

export type Link = { login: string; name: string; roles: Role[]; sets_password: boolean };

/** @returns undefined if the link was used, has expired, or its operator is disabled */
export const findLink = (sql: Queryable, link_hash: Buffer): Promise<Link | undefined> =>
  firstRow(sql<Link[]>`
    select l.login, o.name, o.roles, l.sets_password from sign_in_links l join operators o using (login)
    where l.link_hash = ${link_hash} and l.expires_at > now() and o.status = 'active'`);

/** Uses a link up: of concurrent calls one succeeds. */
export const takeLink = (sql: Queryable, link_hash: Buffer): Promise<Link | undefined> =>
  firstRow(sql<Link[]>`
    delete from sign_in_links l using operators o
    where o.login = l.login and l.link_hash = ${link_hash} and l.expires_at > now() and o.status = 'active'
    returning l.login, o.name, o.roles, l.sets_password`);

/** @returns the number of links that were deleted */
export const deleteLinksOf = (sql: Queryable, login: string) =>
  countRows(sql`delete from sign_in_links where login = ${login}`);

/** Counts an attempt under each key. @returns the counts, and seconds until each window ends */
export const countAttempts = (sql: Queryable, keys: readonly string[], windowMs: number) =>
  sql<{ attempts: number; wait_s: number }[]>`
    insert into sign_in_attempts as a (attempt_key, attempts, window_ends_at)
    select key, 1, now() + ${windowMs} * interval '1 millisecond'
    from unnest(${[...keys].sort()}::text[]) as key order by key
    on conflict (attempt_key) do update
      set attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
          window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
    returning attempts, ceil(extract(epoch from window_ends_at - now()))::int as wait_s`;

/** Attempts that need no delay, then the delay before the next one, which doubles up to a maximum. */
export type Delays = { free: number; firstS: number; maxS: number };

/** Attempts are forgotten after this time without one. Longer than any delay. */
const REMEMBERED = '1 hour';

/** Counts an attempt unless it comes before its time. @returns seconds until its time; 0 if it was counted */
export const takeAttempt = async (sql: Queryable, key: string, delays: Delays): Promise<number> => {
  const { free, firstS, maxS } = delays;
  const due = sql`a.window_ends_at - ${REMEMBERED}::interval
    + interval '1 second' * least(${maxS}, ${firstS} * 2 ^ least(a.attempts - ${free}, 20))`;
  const taken = await isOneRow(sql`
    insert into sign_in_attempts as a (attempt_key, attempts, window_ends_at)
    values (${key}, 1, now() + ${REMEMBERED}::interval)
    on conflict (attempt_key) do update
      set attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
          window_ends_at = excluded.window_ends_at
      where a.attempts < ${free} or ${due} <= now()`);
  if (taken) return 0;
  const wait = await readValue(sql<{ wait_s: number }[]>`
    select greatest(1, ceil(extract(epoch from ${due} - now())))::int as wait_s from sign_in_attempts a
    where attempt_key = ${key}`);
  return wait ?? 1;
};

/** Counts a refusal of this caller. @returns the number within 15 minutes */
export const countRefusal = (sql: Queryable, caller: string): Promise<number> =>
  onlyValue(sql<{ refusals: number }[]>`select count_refusal(${caller}) as refusals`);

/** Forgets the attempts of these keys after a sign-in that succeeded. */
export const forgetAttempts = async (sql: Queryable, keys: readonly string[]): Promise<void> => {
  await sql`delete from sign_in_attempts where attempt_key = any(${keys as string[]}::text[])`;
};

export type OidcFlow = { state: string; nonce: string; code_verifier: string; next: string };

export const insertOidcFlow = async (
  sql: Queryable,
  flow_hash: Buffer,
  site: Site,
  flow: OidcFlow,
  lifetimeMs: number,
) => {
  const { state, nonce, code_verifier, next } = flow;
  await sql`
    insert into oidc_flows (flow_hash, site, state, nonce, code_verifier, next, expires_at)
    values (${flow_hash}, ${site}, ${state}, ${nonce}, ${code_verifier}, ${next},
            now() + ${lifetimeMs} * interval '1 millisecond')`;
};

/** Uses a flow of this site up. @returns undefined if it is unknown or has expired */
export const takeOidcFlow = (sql: Queryable, flow_hash: Buffer, site: Site): Promise<OidcFlow | undefined> =>
  firstRow(sql<OidcFlow[]>`
    delete from oidc_flows where flow_hash = ${flow_hash} and site = ${site} and expires_at > now()
    returning state, nonce, code_verifier, next`);

/** Deletes what has expired: sessions (at the console those of the portal too), links, flows, counts of attempts. */
export const deleteExpired = async (sql: Queryable, site: Site): Promise<void> => {
  await sql`
    with sessions as (
      delete from operator_sessions s where not (${isSessionOpen(sql)})
    ), links as (delete from sign_in_links where expires_at < now()
    ), flows as (delete from oidc_flows where expires_at < now())
    delete from sign_in_attempts where window_ends_at < now()`;
  if (site === 'console') await sql`delete from portal_sessions s where not (${isSessionOpen(sql)})`;
};
