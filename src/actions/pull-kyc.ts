/** KYC records that operators request. */
import type { Job } from 'bullmq';
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

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
  const entry = { ...actor, action: 'kyc.pull', subject: `application:${application_id}`, reason } as const;
  await recordAudit(sql, [entry]);
  return requestKycRecord(producer, application_id);
};
