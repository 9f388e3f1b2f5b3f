import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import { findVersion } from '#db/queries/approvals.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import {
  type ContentProviderRow,
  deleteKycRecords,
  findKycState,
  insertKycAccess,
  lockKycState,
  mapContentProvider,
  requestKycPull,
  saveKycState,
} from '#db/queries/kyc.ts';
import { auditRefusal } from '#src/approvals/requests.ts';
import { requireSecondPerson, SECOND_PERSON_BY_DEFAULT, type SecondPerson } from '#src/approvals/rule.ts';
import { CatalogueError } from '#src/errors.ts';
import { type ActorWithReason, requireName, requireReason, requireRegistered } from '#src/kyc/guards.ts';

/**
 * Delete every version of an application's KYC record, with data keys and fingerprints. The access log keeps
 * who, when and why. A pull in progress then writes nothing, and scheduled pulls skip the application until an operator
 * pulls its record.
 * @returns the number of versions
 * @throws UsageError without a name or a reason, ApprovalError without the second person
 */
export const eraseKyc = async (
  sql: Database,
  application_id: string,
  given: ActorWithReason,
  second: SecondPerson = SECOND_PERSON_BY_DEFAULT,
): Promise<number> => {
  const actor = requireReason(given);
  const { actor: accessed_by, reason } = actor;
  const subject = `application:${application_id}`;
  const erase = async (tx: Queryable): Promise<number> => {
    const { now } = requireRegistered(await findKycState(tx, application_id), application_id);
    await lockKycState(tx, application_id);
    const version = (await findVersion(tx, 'erase', subject)) ?? '';
    const use = { kind: 'erase', subject, version, actor } as const;
    const { entries, details } = await requireSecondPerson(tx, second, use);
    await insertKycAccess(tx, { application_id, record_id: null, action: 'erase', accessed_by, reason });
    await saveKycState(tx, application_id, { state: 'erased', asked_at: now, refused_cp_id: null });
    const versions = await deleteKycRecords(tx, application_id);
    const entry = { ...actor, action: 'kyc.erase', subject, details: { versions, ...details } } as const;
    await recordAudit(tx, [...entries, entry]);
    return versions;
  };
  return auditRefusal(sql, { ...actor, subject, approval_id: second.approval_id }, () => sql.begin(erase));
};

/**
 * Accept the refused `cp_id` of an application. It is mapped to a new platform
 * `cp_id`, or to its former one. The pull that is requested here stores its record.
 * @param expected the application's `cp_id` that the operator saw
 * @throws CatalogueError when there is none, or another than expected; ApprovalError without the second person
 */
export const acceptCpId = async (
  sql: Database,
  application_id: string,
  given: Actor & { reason?: string },
  expected: string,
  second: SecondPerson = SECOND_PERSON_BY_DEFAULT,
): Promise<ContentProviderRow> => {
  const actor = requireName(given);
  const subject = `application:${application_id}`;
  const accept = async (tx: Queryable): Promise<ContentProviderRow> => {
    requireRegistered(await findKycState(tx, application_id), application_id);
    const { refused_cp_id, asked_at } = await lockKycState(tx, application_id);
    if (refused_cp_id === null)
      throw new CatalogueError(`No other cp_id of ${application_id} waits to be accepted.`);
    if (expected !== refused_cp_id) {
      throw new CatalogueError(
        `The cp_id of ${application_id} that waits to be accepted is ${refused_cp_id}, not ${expected}. Look at it (npx catalogue kyc show ${application_id}), then decide again.`,
      );
    }
    const use = { kind: 'cp-id', subject, version: expected, actor } as const;
    const { entries, details } = await requireSecondPerson(tx, second, use);
    const provider = {
      cp_id: randomUUIDv7(),
      application_id,
      application_cp_id: refused_cp_id,
      accepted_by: actor.actor,
    };
    await saveKycState(tx, application_id, { state: 'pending', asked_at, refused_cp_id: null });
    await requestKycPull(tx, application_id);
    const mapped = await mapContentProvider(tx, provider);
    const accepted = { cp_id: mapped.cp_id, ...details };
    const entry = { ...actor, action: 'kyc.accept_cp_id', subject, details: accepted } as const;
    await recordAudit(tx, [...entries, entry]);
    return mapped;
  };
  return auditRefusal(sql, { ...actor, subject, approval_id: second.approval_id }, () => sql.begin(accept));
};
