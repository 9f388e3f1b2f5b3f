/**
 * The audit log: who did what to what, when and why.
 *
 * `await recordAudit(tx, [{ ...actor, action: 'application.pause', subject: 'application:acme', reason }])` is the last
 * statement of the transaction that makes the change: it locks the head of the chain until the transaction ends. The
 * actor comes from the caller: `commandLineActor(by)` (src/cli/kit/actor.ts), or the signed-in operator of a page.
 */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { isOneRow, readValue } from '#db/rows.ts';
import type { auditLog } from '#db/schema/audit.ts';
import type { ActorKind, AuditAction } from '#src/contract/audit.ts';

export type AuditRow = InferSelectModel<typeof auditLog>;

/** Who acts. `actor` is a login, a claimed name, an application id or the name of a process. */
export type Actor = { actor: string; actor_kind: ActorKind; os_user?: string | null };

/** A signed-in operator. */
export const operatorActor = (login: string): Actor => ({ actor: login, actor_kind: 'operator' });

export type AuditEntry = Actor & {
  action: AuditAction;
  /** `<kind>:<id>`, with a kind of `AUDIT_SUBJECTS`. */
  subject: string;
  reason?: string | null;
  /** What a reader needs to understand the entry. Never a token, a password or a value of a KYC record. */
  details?: Record<string, unknown>;
};

/** Indexed columns are cut to these lengths, in characters. */
const ACTOR_MAX = 200;
const SUBJECT_MAX = 600;
const REASON_MAX = 4_000;

/** Replaces what Postgres cannot store: U+0000 and lone surrogates. */
const storable = (text: string, max = Number.POSITIVE_INFINITY): string =>
  text.toWellFormed().replaceAll('\u0000', '\ufffd').slice(0, max).toWellFormed();

/**
 * Appends entries, in this order. Call it in the transaction of the change that the entries record, as its last statement.
 * An empty list writes nothing.
 */
export const recordAudit = async (tx: Queryable, entries: readonly AuditEntry[]): Promise<void> => {
  if (entries.length === 0) return;
  const rows = entries.map(({ actor, actor_kind, os_user, action, subject, reason, details }) => ({
    actor: storable(actor, ACTOR_MAX),
    actor_kind,
    os_user: os_user ?? null,
    action,
    subject: storable(subject, SUBJECT_MAX),
    reason: reason ? storable(reason, REASON_MAX) : null,
    details: details ?? {},
  }));
  const json = JSON.stringify(rows, (_key, value) => (typeof value === 'string' ? storable(value) : value));
  await tx`
    insert into audit_log (actor, actor_kind, os_user, action, subject, reason, details)
    select e.actor, e.actor_kind, e.os_user, e.action, e.subject, e.reason, e.details
    from rows from (jsonb_to_recordset(${json}::text::jsonb) as (
      actor text, actor_kind text, os_user text, action text, subject text, reason text, details jsonb
    )) with ordinality as e(actor, actor_kind, os_user, action, subject, reason, details, position)
    order by e.position`;
};

export type AuditFilter = {
  actor?: string | undefined;
  action?: string | readonly string[] | undefined;
  subject?: string | undefined;
  /** Entries of this time and later. */
  since?: Date | undefined;
  /** Entries before this time. */
  until?: Date | undefined;
};

const matchesFilter = (sql: Queryable, { actor, action, subject, since, until }: AuditFilter) => sql`
  ${actor === undefined ? sql`true` : sql`actor = ${actor}`}
  and ${action === undefined ? sql`true` : sql`action = any(${[action].flat() as string[]}::text[])`}
  and ${subject === undefined ? sql`true` : sql`subject = ${subject}`}
  and ${since === undefined ? sql`true` : sql`at >= ${since}`}
  and ${until === undefined ? sql`true` : sql`at < ${until}`}`;

/** Lists the latest entries that match every given filter. */
export const listAudit = async (
  sql: Queryable,
  { limit, ...filter }: AuditFilter & { limit: number },
): Promise<AuditRow[]> =>
  (await listAuditPage(sql, filter, { sort: 'entry_id', descending: true, limit, uncounted: true })).rows;

/** Reads one page of the entries that match every given filter. */
export const listAuditPage = (sql: Queryable, filter: AuditFilter, page: ListPage<'entry_id'>) =>
  readListPage<AuditRow>(sql, page, {
    columns: sql`*`,
    from: sql`audit_log where ${matchesFilter(sql, filter)}`,
    sort_by: sql`entry_id`,
    id: sql`entry_id`,
  });

export type AuditVerdict = {
  entries: number;
  /** Hash of the last entry, hexadecimal. A copy kept elsewhere proves that no entry up to it was rewritten. */
  head: string;
  /** The first entry that does not fit, and why; null if the chain is whole. */
  broken: { entry_id: number; problem: 'changed' | 'removed' | 'inserted' | 'rewritten' } | null;
};

/** Entries of one statement: a long log is verified without a long transaction. */
const VERIFY_BATCH = 20_000;

/**
 * Verifies the chain from the first entry to the head. New entries may be added meanwhile.
 * @param anchor an entry and its hash (hexadecimal), noted earlier outside the database
 */
export const verifyAudit = async (
  sql: Queryable,
  anchor?: { entry_id: number; hash: string },
): Promise<AuditVerdict> => {
  const [head] = await sql<{ entry_id: number; hash: string }[]>`
    select entry_id, encode(hash, 'hex') as hash from audit_head`;
  const entries = head?.entry_id ?? 0;
  const verdict = (broken: AuditVerdict['broken']): AuditVerdict => ({
    entries,
    head: head?.hash ?? '',
    broken,
  });
  if (head === undefined) return verdict({ entry_id: 0, problem: 'removed' });
  let last = { entry_id: 0, hash: '00'.repeat(32) };
  for (;;) {
    const [batch] = await sql<
      { rows: number; last_id: number; last_hash: string; expected: number; found: number; intact: boolean }[]
    >`
      with part as (
        select a, entry_id, hash, previous_hash,
               lag(entry_id, 1, ${last.entry_id}::bigint) over w as before_id,
               lag(hash, 1, decode(${last.hash}, 'hex')) over w as before_hash
        from audit_log a where entry_id > ${last.entry_id} and entry_id <= ${entries}
        window w as (order by entry_id)
        order by entry_id limit ${VERIFY_BATCH}
      ), broken as (
        select before_id + 1 as expected, entry_id as found, hash = audit_hash(a) as intact from part
        where entry_id <> before_id + 1 or previous_hash <> before_hash or hash <> audit_hash(a)
        order by entry_id limit 1
      ), ending as (
        select entry_id, hash from part order by entry_id desc limit 1
      )
      select (select count(*)::int from part) as rows, e.entry_id as last_id, encode(e.hash, 'hex') as last_hash,
             b.expected, b.found, b.intact
      from (select 1) one left join ending e on true left join broken b on true`;
    if (batch === undefined) throw new Error('the database returned no row');
    if (batch.found !== null) {
      if (batch.found !== batch.expected) return verdict({ entry_id: batch.expected, problem: 'removed' });
      // An entry whose own hash is right, but not the hash of the entry before it, was inserted.
      return verdict({ entry_id: batch.found, problem: batch.intact ? 'inserted' : 'changed' });
    }
    if (batch.rows > 0) last = { entry_id: batch.last_id, hash: batch.last_hash };
    if (batch.rows < VERIFY_BATCH) break;
  }
  if (last.entry_id < entries) return verdict({ entry_id: last.entry_id + 1, problem: 'removed' });
  if (last.hash !== head.hash) return verdict({ entry_id: last.entry_id, problem: 'rewritten' });
  const beyond = await readValue(sql<{ entry_id: number }[]>`
    select l.entry_id from audit_log l, audit_head h where l.entry_id > h.entry_id or l.entry_id < 1
    order by l.entry_id limit 1`);
  if (beyond !== undefined) return verdict({ entry_id: beyond, problem: 'inserted' });
  if (anchor === undefined) return verdict(null);
  const isNoted = await isOneRow(sql`
    select from audit_log where entry_id = ${anchor.entry_id} and encode(hash, 'hex') = ${anchor.hash.toLowerCase()}`);
  return verdict(isNoted ? null : { entry_id: anchor.entry_id, problem: 'rewritten' });
};
