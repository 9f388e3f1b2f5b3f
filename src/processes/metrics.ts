import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { jobSpecs, mediaSpecs } from '#src/ingest/specs.ts';
import { buildMetricsApp } from '#src/metrics/app.ts';
import { addFleetMetrics } from '#src/metrics/fleet-metrics.ts';
import { createProcessMetrics } from '#src/metrics/process-metrics.ts';
import { addQueueMetrics } from '#src/metrics/queue-metrics.ts';
import { sendMetrics } from '#src/metrics/send-metrics.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { listen, stopListening } from '#src/processes/listen.ts';
import { CONNECT_S, probeDatabase, probePool, probeQueue } from '#src/processes/probe-servers.ts';
import type { AnySpec } from '#src/queue/job.ts';

/**
 * A separate pool, so that metrics do not wait for the process's connections. Two of its connections read tables, which may
 * be locked, and the third probes.
 */
const DATABASE_CONNECTIONS = 3;

/** The queues whose lengths a process reports, if it may not read every queue of Redis. */
const QUEUES_OF: Record<string, readonly AnySpec[]> = { api: [], 'kyc-desk': [], media: mediaSpecs };

/**
 * Serves `/metrics`, `/healthz` and `/readyz` of this process, from before its parts start until they have stopped. If
 * another worker on this machine uses the port, it listens on a free port and logs it. OpenTelemetry sends the same
 * metrics if it is on.
 * @param name of the process, such as `worker` or `kyc-desk`
 * @param fault why the process is not ready; undefined if it is. Database and queue are checked here
 * @param pools the pools of the process, of which each must give a connection
 */
export const startMetrics = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  { name, fault, pools }: { name: string; fault: () => string | undefined; pools: () => readonly Database[] },
): Promise<{ address: string; stop: () => Promise<void> }> => {
  const { host, port } = config.metrics;
  await using started = new AsyncDisposableStack();
  const { sql, backend, producer } = started.use(
    openFoundation(config, databaseUrl, {
      use: 'producer',
      name: 'metrics',
      maxConnections: DATABASE_CONNECTIONS,
      giveUpS: CONNECT_S,
      specs: QUEUES_OF[name] ?? jobSpecs,
      logger,
    }),
  );
  const { registry } = started.use(createProcessMetrics(name, fault));
  addFleetMetrics(registry, sql);
  addQueueMetrics(registry, producer.queues(), backend);
  sendMetrics(registry);
  const findUnreachable = async (): Promise<string | undefined> => {
    await Promise.all([probeDatabase(sql), probeQueue(backend), ...pools().map(probePool)]);
    return fault();
  };
  const app = await buildMetricsApp({ name, registry, findUnreachable, logger });
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
