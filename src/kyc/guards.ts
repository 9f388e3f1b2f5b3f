import type { Queryable } from '#db/client.ts';
import { type Actor as AuditActor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';
import type { ActorKind } from '#src/contract/audit.ts';
import { UsageError } from '#src/errors.ts';

/** Who acts: a name claimed on the command line, or the operator of the KYC desk. */
export type Person = { by: string; os_user?: string | null; actor_kind?: ActorKind };
/** Who acts, and why: written to the access log and to the audit log. */
export type Actor = Person & { reason: string };

/** The person as the audit log has it. */
export const auditActorOf = ({ by, os_user = null, actor_kind = 'command_line' }: Person): AuditActor => ({
  actor: by,
  actor_kind,
  os_user,
});

export const subjectOf = (application_id: string): string => `application:${application_id}`;

/**
 * Appends what a person does to a KYC record to the audit log. The last statement of its transaction.
 * @param more.before entries to write before it: the approval that it uses
 */
export const auditKyc = (
  tx: Queryable,
  action: AuditEntry['action'],
  application_id: string,
  person: Person & { reason?: string },
  more: { details?: AuditEntry['details']; before?: readonly AuditEntry[] } = {},
): Promise<void> =>
  recordAudit(tx, [
    ...(more.before ?? []),
    {
      ...auditActorOf(person),
      action,
      subject: subjectOf(application_id),
      reason: person.reason ?? null,
      details: more.details ?? {},
    },
  ]);

/** @returns the text without outer spaces @throws UsageError when nothing is left */
export const requireNonEmpty = (text: string | undefined, option: string): string => {
  const trimmed = text?.trim() ?? '';
  if (trimmed !== '') return trimmed;
  throw new UsageError(`${option} is empty: the log needs it.`);
};

/** @throws UsageError when the name or the reason is empty */
export const requireActor = ({ by, reason, ...person }: Partial<Actor>): Actor => ({
  ...person,
  by: requireNonEmpty(by, '--by'),
  reason: requireNonEmpty(reason, '--reason'),
});

/** @param row of an application, undefined when it was never registered @throws UsageError then */
export const requireRegistered = <Row>(row: Row | undefined, application_id: string): Row => {
  if (row !== undefined) return row;
  throw new UsageError(`There is no application "${application_id}". List them: npx catalogue app list`);
};
