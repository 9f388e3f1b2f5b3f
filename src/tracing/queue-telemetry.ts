import { createRequire } from 'node:module';
import type { Telemetry } from 'bullmq';

/**
 * What carries a trace through the queue: BullMQ writes it into each job and takes it up again where the job
 * runs.
 * @param enabled `config.tracing`; without it nothing is loaded
 */
export const queueTelemetry = (enabled: boolean): Telemetry | undefined => {
  if (!enabled) return undefined;
  const require = createRequire(import.meta.url);
  const { BullMQOtel } = require('bullmq-otel') as typeof import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'game-catalogue' });
};
