import type { Database } from '#db/client.ts';
import type { Config } from '#src/config.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import { createEventSender } from '#src/events/deliver.ts';
import type { JobDependencies } from '#src/ingest/dependencies.ts';
import { createTargetOpener } from '#src/ingest/open-target.ts';
import { observeWebhooks } from '#src/metrics/webhook-calls.ts';
import { engineOperations } from '#src/operations/engine-operations.ts';
import type { Producer } from '#src/queue/producer.ts';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';
import { CALL_TIMEOUT_MS, STORAGE } from '#src/rules/budgets.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { createProcessPace } from '#src/webhooks/pace.ts';

export type JobResources = { sql: Database; producer: Producer; keys: KeyRing };

/** Limits that tests change. */
export type JobLimits = Partial<Pick<JobDependencies, 'pace' | 'pageCap'> & { callTimeoutMs: number }>;

/**
 * Builds what the handlers in jobs/ work with. The workers, the tests and the benches all use it.
 * @param started closes the connections to applications
 */
export const createJobDependencies = (
  config: Pick<Config, 'webhooks' | 'pictures' | 'kycRetention' | 'auditTimeZone'>,
  { sql, producer, keys }: JobResources,
  started: AsyncDisposableStack,
  { pace = createProcessPace(), pageCap = STORAGE.pages, callTimeoutMs = CALL_TIMEOUT_MS }: JobLimits = {},
): JobDependencies => {
  const egress = createEgressPolicy(config.webhooks);
  const memory = createAnswerMemory();
  const webhooks = observeWebhooks(createWebhookClient({ egress, memory, pace, callTimeoutMs }));
  started.defer(() => webhooks.close());
  const http = createHttpPost({ egress });
  started.defer(() => http.close());
  const formatAuditTime = createAuditTimeFormatter(config.auditTimeZone);
  return {
    ...engineOperations,
    sql,
    webhooks,
    memory,
    pace,
    producer,
    keys,
    openTarget: createTargetOpener(keys),
    pictureKeepMs: config.pictures.keepMs,
    kycRetention: config.kycRetention,
    events: createEventSender({ sql, keys, http, formatAuditTime, ...engineOperations }),
    egress,
    pageCap,
  };
};
