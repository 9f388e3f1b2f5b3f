import type { Database } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { WebhookClient, WebhookTarget } from '#src/webhooks/client.ts';

/** Everything a handler works with; built once by the role that runs the workers. */
export type JobDependencies = {
  sql: Database;
  webhooks: WebhookClient;
  producer: Producer;
  /** The application as the webhooks' client needs it, with its access token opened. */
  openTarget: (application: ApplicationRow) => Promise<WebhookTarget>;
  /** What KYC records are sealed and opened with. */
  keys: KeyRing;
  /** Most pages a listing may have. */
  pageCap: number;
};
