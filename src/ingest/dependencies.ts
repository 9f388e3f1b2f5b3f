import type { Database } from '#db/client.ts';
import type { TargetRow } from '#src/ingest/open-target.ts';
import type { JobContext as Context } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { WebhookClient, WebhookTarget } from '#src/webhooks/client.ts';

/** What the handlers in jobs/ work with; built once by the worker role. */
export type JobDependencies = {
  sql: Database;
  webhooks: WebhookClient;
  producer: Producer;
  /** Opens the application's access token. */
  openTarget: (application: TargetRow) => Promise<WebhookTarget>;
  /** Keys that seal KYC records and access tokens. */
  keys: KeyRing;
  /** Pages that a listing may have at most. */
  pageCap: number;
};

export type JobContext = Context<JobDependencies>;
