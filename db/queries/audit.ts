/**
 * The audit log: who did what to what, when and why.
 *
 * `operate` (src/operations/operate.ts) writes the entries of every operation. Acts that are no operation, such as a
 * sign-in, call `recordAudit` as the last statement of their transaction, because it locks the head of the chain until the
 * transaction ends.
 */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { auditLog } from '#db/schema/audit.ts';
import { storableJson } from '#db/storable-json.ts';
import { where } from '#db/where.ts';
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

/** The longest values that are stored, in characters. */
const ACTOR_MAX = 200;
const SUBJECT_MAX = 600;
const KEPT_REASON_MAX = 4_000;

/**
 * Appends entries, in this order. Call it in the transaction of the change that the entries record, as its last statement.
 * An empty list writes nothing.
 */
export const recordAudit = async (tx: Queryable, entries: readonly AuditEntry[]): Promise<void> => {
  if (entries.length === 0) return;
  const rows = entries.map(({ actor, actor_kind, os_user, action, subject, reason, details }) => ({
    actor: actor.slice(0, ACTOR_MAX),
    actor_kind,
    os_user: os_user ?? null,
    action,
    subject: subject.slice(0, SUBJECT_MAX),
    reason: reason?.slice(0, KEPT_REASON_MAX) || null,
    details: details ?? {},
  }));
  const json = storableJson(rows);
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

const matchesFilter = (sql: Queryable, { actor, action, subject, since, until }: AuditFilter) => [
  actor !== undefined && sql`actor = ${actor}`,
  action !== undefined && sql`action = any(${[action].flat() as string[]}::text[])`,
  subject !== undefined && sql`subject = ${subject}`,
  since && sql`at >= ${since}`,
  until && sql`at < ${until}`,
];

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
    from: sql`audit_log ${where(sql, matchesFilter(sql, filter))}`,
    sort_by: sql`entry_id`,
    id: sql`entry_id`,
  });
