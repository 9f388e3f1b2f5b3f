import pTimeout from 'p-timeout';

/** The last spans are dropped if the collector does not accept them within this time. */
const FLUSH_MS = 2_000;

/**
 * Starts OpenTelemetry traces as its standard environment variables say (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, …). Loads the SDK only when tracing is enabled.
 * @param enabled `config.tracing`
 * @returns dispose of it last: it sends the remaining spans
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
