import type { Telemetry } from 'bullmq';
import type { QueueBackend } from '#src/queue/backend.ts';

/** The same backend, whose queues and workers carry traces. What is opened with a telemetry of its own keeps it. */
export const tracedBackend = (backend: QueueBackend, telemetry: Telemetry): QueueBackend => ({
  ...backend,
  createQueue: (name, options) => backend.createQueue(name, { telemetry, ...options }),
  createWorker: (name, processor, options) =>
    backend.createWorker(name, processor, { telemetry, ...options }),
  createFlowProducer: (options) => backend.createFlowProducer({ telemetry, ...options }),
});
