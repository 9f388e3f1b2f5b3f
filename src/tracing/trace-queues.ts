import { createRequire } from 'node:module';
import type { QueueBackend } from '#src/queue/backend.ts';

/**
 * Adds traces to the backend: BullMQ stores the trace context in each job and continues the trace when the job runs.
 * `require` loads the telemetry only if tracing is enabled.
 */
export const traceQueues = (backend: QueueBackend): QueueBackend => {
  const require = createRequire(import.meta.url);
  const { BullMQOtel } = require('bullmq-otel') as typeof import('bullmq-otel');
  const telemetry = new BullMQOtel({ tracerName: 'game-catalogue' });
  return {
    ...backend,
    createQueue: (name, options) => backend.createQueue(name, { telemetry, ...options }),
    createWorker: (name, processor, options) =>
      backend.createWorker(name, processor, { telemetry, ...options }),
    createFlowProducer: (options) => backend.createFlowProducer({ telemetry, ...options }),
  };
};
