import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import type { Registry } from 'prom-client';

export type MetricsAppOptions = {
  registry: Registry;
  /** Rejects, or says false, while the process can't do its work. */
  ready: () => Promise<boolean>;
  logger: FastifyBaseLogger;
};

/**
 * `GET /metrics` for Prometheus, `GET /healthz` (the process is alive) and `GET /readyz` (it can do its work)
 * for whatever runs it: built, not listening. Figures alone, no secrets; it has no login, so it listens where
 * only the fleet's own network reaches it.
 */
export const buildMetricsApp = async ({
  registry,
  ready,
  logger,
}: MetricsAppOptions): Promise<FastifyInstance> => {
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Below the time Prometheus waits.
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
