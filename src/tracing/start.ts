import { setTimeout as sleep } from 'node:timers/promises';

/** How long the last spans may take to be sent, in milliseconds: a collector may be away. */
const FLUSH_MS = 2_000;

/**
 * Start OpenTelemetry as its standard environment variables say (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, …): traces alone. The SDK is loaded only when it is wanted.
 * @param enabled `config.tracing`
 * @returns to be disposed of last: sends what is still to be sent
 */
export const startTracing = async (enabled: boolean): Promise<AsyncDisposable> => {
  if (!enabled) return { [Symbol.asyncDispose]: async () => {} };
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const sdk = new NodeSDK({
    // What the environment names wins over this.
    resource: resourceFromAttributes({ 'service.name': 'game-catalogue' }),
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return {
    [Symbol.asyncDispose]: () =>
      Promise.race([sdk.shutdown().catch(() => {}), sleep(FLUSH_MS, undefined, { ref: false })]),
  };
};
