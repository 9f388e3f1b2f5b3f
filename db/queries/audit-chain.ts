/** The hashes of the audit log: what `verifyAudit` (db/verify-audit.ts) reads. */
import type { Queryable } from '#db/client.ts';
import { firstRow, isOneRow, onlyRow, readValue } from '#db/rows.ts';

/** An entry and its hash (hexadecimal). */
export type Link = { entry_id: number; hash: string };

/** The last entry, as `audit_head` has it. */
export const findAuditHead = (sql: Queryable) =>
  firstRow(sql<Link[]>`select entry_id, encode(hash, 'hex') as hash from audit_head`);

/** A part of the chain: its number of entries, its last one, and the first that does not fit. Null: there is none. */
export type ChainPart = {
  rows: number;
  last_id: number | null;
  last_hash: string | null;
  /** The id that the entry must have, and the one that it has. */
  expected: number | null;
  found: number | null;
  /** Is the entry's own hash right? */
  is_intact: boolean | null;
};

/**
 * The hash of an entry, as `audit_hash` makes it. Every function is that of Postgres by name, because the owner of the
 * database can replace `audit_hash`, or add a function that fits better.
 */
const hashOf = (sql: Queryable) => sql`
  pg_catalog.sha256(a.previous_hash || pg_catalog.convert_to(pg_catalog.jsonb_build_object(
    'entry_id', a.entry_id,
    'at', pg_catalog.to_char(pg_catalog.timezone('UTC', a.at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor', a.actor, 'actor_kind', a.actor_kind, 'os_user', a.os_user,
    'action', a.action, 'subject', a.subject, 'reason', a.reason, 'details', a.details
  )::text, 'UTF8'))`;

/** Reads the entries after a link, up to an entry, and compares each with the one before it. */
export const readChainPart = (
  sql: Queryable,
  after: Link,
  until: number,
  limit: number,
): Promise<ChainPart> =>
  onlyRow(sql<ChainPart[]>`
    with part as (
      select entry_id, hash, previous_hash, ${hashOf(sql)} as own_hash,
             pg_catalog.lag(entry_id, 1, ${after.entry_id}::bigint) over w as before_id,
             pg_catalog.lag(hash, 1, decode(${after.hash}, 'hex')) over w as before_hash
      from audit_log a where entry_id > ${after.entry_id} and entry_id <= ${until}
      window w as (order by entry_id)
      order by entry_id limit ${limit}
    ), broken as (
      select before_id + 1 as expected, entry_id as found, hash = own_hash as is_intact from part
      where entry_id <> before_id + 1 or previous_hash <> before_hash or hash <> own_hash
      order by entry_id limit 1
    ), ending as (
      select entry_id, hash from part order by entry_id desc limit 1
    )
    select (select count(*)::int from part) as rows, e.entry_id as last_id, encode(e.hash, 'hex') as last_hash,
           b.expected, b.found, b.is_intact
    from (select 1) one left join ending e on true left join broken b on true`);

/** An entry that no link of the chain leads to. */
export const findUnchainedEntry = (sql: Queryable) =>
  readValue(sql<{ entry_id: number }[]>`
    select l.entry_id from audit_log l, audit_head h where l.entry_id > h.entry_id or l.entry_id < 1
    order by l.entry_id limit 1`);

/** Has this entry this hash? */
export const hasLink = (sql: Queryable, { entry_id, hash }: Link): Promise<boolean> =>
  isOneRow(sql`
    select from audit_log where entry_id = ${entry_id} and encode(hash, 'hex') = ${hash.toLowerCase()}`);
