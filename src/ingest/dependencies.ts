import type { EgressPolicy } from '#src/egress/egress.ts';
import type { EventSender } from '#src/events/deliver.ts';
import type { RunEndings } from '#src/ingest/finish-run.ts';
import type { ApplicationTarget, TargetRow } from '#src/ingest/open-target.ts';
import type { JobContext as Context } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { AnswerMemory } from '#src/webhooks/answer-memory.ts';
import type { WebhookClient } from '#src/webhooks/client.ts';
import type { ProcessPace } from '#src/webhooks/pace.ts';

/** How long KYC records are kept, in milliseconds. */
type KycRetention = {
  /** A former version, after it was replaced (KYC_KEEP_FORMER). */
  formerMs: number;
  /** Every version of a removed application, after its removal (KYC_KEEP_REMOVED). */
  removedMs: number;
};

/** What the handlers in jobs/ work with; built once by the worker. */
export type JobDependencies = RunEndings & {
  webhooks: WebhookClient;
  /** Bounds the responses that `webhooks` has read and the jobs have not written yet. */
  memory: AnswerMemory;
  /** Delays the calls of applications whose responses cost much time; `webhooks` waits for it. */
  pace: ProcessPace;
  producer: Producer;
  /** Opens the application's access token. */
  openTarget: (application: TargetRow) => Promise<ApplicationTarget>;
  /** Keys that seal KYC records and access tokens. */
  keys: KeyRing;
  /** How long unused pictures are kept, in milliseconds (PICTURE_KEEP). */
  pictureKeepMs: number;
  kycRetention: KycRetention;
  events: EventSender;
  /** Which addresses may be called. */
  egress: EgressPolicy;
  /** Most pages of a listing. */
  pageCap: number;
};

export type JobContext = Context<JobDependencies>;
