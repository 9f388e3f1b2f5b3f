import type { JobContext } from '#src/ingest/dependencies.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

/** Send an application's events that are due. What remains is sent by the next job (src/ingest/urgent-jobs.ts). */
export const deliverEventJob = defineJob(
  deliverEvent,
  async ({ application_id }, { deps, signal, log }: JobContext) =>
    deps.events.deliver(application_id, signal, log),
);
