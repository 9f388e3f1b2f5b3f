import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import type { Registry } from 'prom-client';

export type MetricsAppOptions = {
  registry: Registry;
  /** Rejects or resolves to false if the process cannot work. */
  ready: () => Promise<boolean>;
  logger: FastifyBaseLogger;
};

/**
 * Builds the server of `GET /metrics` (Prometheus), `GET /healthz` (the process is alive) and `GET /readyz` (it can
 * work). It has no login: expose it to the network of the fleet only. No metric contains a secret.
 * @returns the app, not listening
 */
export const buildMetricsApp = async ({
  registry,
  ready,
  logger,
}: MetricsAppOptions): Promise<FastifyInstance> => {
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Less than Prometheus's default scrape timeout, 10 s.
    handlerTimeout: 9_000,
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', registry.contentType);
    return registry.metrics();
  });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const isReady = await ready().catch(() => false);
    return reply.code(isReady ? 200 : 503).send(isReady ? 'ready\n' : 'not ready\n');
  });
  await app.ready();
  return app;
};
