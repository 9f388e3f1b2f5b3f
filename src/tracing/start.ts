import { diag } from '@opentelemetry/api';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { onceEvery } from '#src/lib/once-every.ts';

/** Time limit for sending the rest at shutdown. What is not sent by then is dropped. */
const FLUSH_MS = 2_000;

/** The shortest time between two lines of the log that say that nothing is sent. */
const LOG_MS = 10 * 60_000;

/** Logs the errors of OpenTelemetry, which otherwise says nothing of a collector that does not answer. */
const logErrors = (logger: Logger): void => {
  const isDue = onceEvery(LOG_MS);
  const ignore = (): void => {};
  const error = (text: string): void => {
    if (!isDue()) return;
    const [, message = text] = /"message":"([^"]*)"/.exec(text) ?? [];
    logger.warn(
      { error: message },
      'telemetry is not sent: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector',
    );
  };
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore });
};

/** The signals that are sent. */
export type Telemetry = { traces: boolean; metrics: boolean; logs: boolean };

/**
 * Starts OpenTelemetry, configured by its standard environment variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER,
 * OTEL_SERVICE_NAME, …). Loads the SDK only if a signal is sent.
 * @returns a resource whose disposal sends the rest; dispose of it last
 */
export const startTelemetry = async (
  { traces, metrics, logs }: Telemetry,
  logger: Logger,
): Promise<AsyncDisposable> => {
  if (!traces && !metrics && !logs) return { [Symbol.asyncDispose]: async () => {} };
  logErrors(logger);
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
