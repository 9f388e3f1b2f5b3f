import pTimeout from 'p-timeout';

/** Time limit for sending the rest at shutdown. What is not sent by then is dropped. */
const FLUSH_MS = 2_000;

/** The signals that are sent. */
export type Telemetry = { traces: boolean; metrics: boolean; logs: boolean };

/**
 * Starts OpenTelemetry, configured by its standard environment variables (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, …). Loads the SDK only if a signal is sent.
 * @returns a resource whose disposal sends the rest: dispose of it last
 */
export const startTelemetry = async ({ traces, metrics, logs }: Telemetry): Promise<AsyncDisposable> => {
  if (!traces && !metrics && !logs) return { [Symbol.asyncDispose]: async () => {} };
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME overrides this.
    resource: resourceFromAttributes({ 'service.name': 'game-catalogue' }),
    ...(!traces && { spanProcessors: [] }),
    ...(!metrics && { metricReaders: [] }),
    ...(!logs && { logRecordProcessors: [] }),
  });
  sdk.start();
  return {
    [Symbol.asyncDispose]: async () => {
      await pTimeout(sdk.shutdown(), { milliseconds: FLUSH_MS, message: false }).catch(() => {});
    },
  };
};
