import type { JobContext } from '#src/ingest/dependencies.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

/** Sends the events of a receiver that are due. What remains is sent by the next job (src/ingest/urgent-jobs.ts). */
export const deliverEventJob = defineJob(deliverEvent, async (receiver, { deps, signal, log }: JobContext) =>
  deps.events.deliver(receiver, signal, log),
);
