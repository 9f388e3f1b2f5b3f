import pTimeout from 'p-timeout';

/** Time limit for sending the remaining spans at shutdown. Spans that are not sent by then are dropped. */
const FLUSH_MS = 2_000;

/**
 * Starts OpenTelemetry traces, configured by its standard environment variables (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, …). Loads the SDK only if tracing is enabled.
 * @returns a resource whose disposal sends the remaining spans: dispose of it last
 */
export const startTracing = async (enabled: boolean): Promise<AsyncDisposable> => {
  if (!enabled) return { [Symbol.asyncDispose]: async () => {} };
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME overrides this.
    resource: resourceFromAttributes({ 'service.name': 'game-catalogue' }),
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return {
    [Symbol.asyncDispose]: async () => {
      await pTimeout(sdk.shutdown(), { milliseconds: FLUSH_MS, message: false }).catch(() => {});
    },
  };
};
