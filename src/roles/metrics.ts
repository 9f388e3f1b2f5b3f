import type { Logger } from 'pino';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { buildMetricsApp } from '#src/metrics/app.ts';
import { addFleetMetrics } from '#src/metrics/fleet-metrics.ts';
import { createProcessMetrics } from '#src/metrics/process-metrics.ts';
import { addQueueMetrics } from '#src/metrics/queue-metrics.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { listen, stopListening } from '#src/roles/listen.ts';

/** A pool of its own: metrics are available while the pool of the role is busy. */
const DATABASE_CONNECTIONS = 2;

/**
 * Serves `/metrics`, `/healthz` and `/readyz` of this process, before its roles start and until they have stopped. If
 * the port is in use (a second worker on one machine), it takes a free one and logs it.
 * @param role `worker`, `api`, `board` or `up`
 * @param isReady readiness of the roles, besides that of database and queue
 */
export const startMetrics = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  { role, isReady }: { role: string; isReady: () => boolean },
): Promise<{ address: string; stop: () => Promise<void> }> => {
  const { host, port } = config.metrics;
  await using started = new AsyncDisposableStack();
  const { sql, backend, producer } = started.use(
    openFoundation(config, databaseUrl, {
      role: 'producer',
      name: 'metrics',
      maxConnections: DATABASE_CONNECTIONS,
      logger,
    }),
  );
  const { registry } = started.use(createProcessMetrics(role));
  addFleetMetrics(registry, sql);
  addQueueMetrics(registry, producer.queues(), backend.ping);
  const ready = async (): Promise<boolean> => {
    await Promise.all([sql`select 1`, backend.ping()]);
    return isReady();
  };
  const app = await buildMetricsApp({ registry, ready, logger });
  started.defer(() => stopListening(app));
  const address = await listen(app, host, port, 'METRICS_PORT').catch(async (error) => {
    if (!(error instanceof UsageError)) throw error;
    const elsewhere = await listen(app, host, 0, 'METRICS_PORT');
    logger.warn(
      { port, metrics: `${elsewhere}/metrics` },
      'METRICS_PORT is in use: metrics are on another port',
    );
    return elsewhere;
  });
  const all = started.move();
  return { address, stop: () => all.disposeAsync() };
};
