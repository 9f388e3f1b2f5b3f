/** KYC records that operators request, with their entries in the audit log. */
import type { Job } from 'bullmq';
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { reopenErased } from '#db/queries/kyc.ts';
import { changeAudited } from '#src/actions/audited.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

const pullEntry = (application_id: string, reason: string | undefined) =>
  ({ action: 'kyc.pull', subject: `application:${application_id}`, reason }) as const;

/** Lets an erased record be pulled again. @returns whether it was erased */
export const allowErasedRecord = (
  sql: Database,
  actor: Actor,
  application_id: string,
  reason: string,
): Promise<boolean> =>
  changeAudited(sql, actor, pullEntry(application_id, reason), (tx) => reopenErased(tx, application_id));

/** Adds a job that pulls the record, unless the queue already has one for this application. */
export const requestKycRecord = (producer: Producer, application_id: string): Promise<Job> =>
  producer.add(queryCpKyc, { application_id }, { once: application_id });

/**
 * Adds a job that pulls the record of an application, with its entry in the audit log. No transaction covers both, because
 * the queue may be in Redis: the entry is written first.
 */
export const pullKycRecord = async (
  { sql, producer }: { sql: Database; producer: Producer },
  actor: Actor,
  application_id: string,
  reason?: string,
): Promise<Job> => {
  await recordAudit(sql, [{ ...actor, ...pullEntry(application_id, reason) }]);
  return requestKycRecord(producer, application_id);
};
