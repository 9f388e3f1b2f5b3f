import type { Database } from '#db/client.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import type { EventSender } from '#src/events/deliver.ts';
import type { ApplicationTarget, TargetRow } from '#src/ingest/open-target.ts';
import type { KycRetention } from '#src/kyc/expire.ts';
import type { JobContext as Context } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { AnswerMemory } from '#src/webhooks/answer-memory.ts';
import type { WebhookClient } from '#src/webhooks/client.ts';
import type { Pace } from '#src/webhooks/pace.ts';

/** What the handlers in jobs/ work with; built once by the worker role. */
export type JobDependencies = {
  sql: Database;
  webhooks: WebhookClient;
  /** What `webhooks` has read and the jobs have not written. */
  memory: AnswerMemory;
  /** What responses may cost; `webhooks` waits for it. */
  pace: Pace;
  producer: Producer;
  /** Opens the application's access token. */
  openTarget: (application: TargetRow) => Promise<ApplicationTarget>;
  /** Keys that seal KYC records and access tokens. */
  keys: KeyRing;
  /** PICTURE_KEEP */
  pictureKeepMs: number;
  /** KYC_KEEP_FORMER, KYC_KEEP_REMOVED */
  kycRetention: KycRetention;
  events: EventSender;
  /** Where calls may go. */
  egress: EgressPolicy;
  /** Pages that a listing may have at most. */
  pageCap: number;
};

export type JobContext = Context<JobDependencies>;
