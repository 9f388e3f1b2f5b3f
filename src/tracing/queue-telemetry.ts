import { createRequire } from 'node:module';
import type { Telemetry } from 'bullmq';

/**
 * Loads BullMQ's telemetry: it stores the trace context in each job and continues the trace when the job runs. `require`
 * loads it only if tracing is enabled.
 */
export const loadQueueTelemetry = (): Telemetry => {
  const require = createRequire(import.meta.url);
  const { BullMQOtel } = require('bullmq-otel') as typeof import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'game-catalogue' });
};
