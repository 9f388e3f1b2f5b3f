import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { coerceError, isUnreachable, safeMessage } from '#src/errors.ts';
import { createServer } from '#src/http/create-server.ts';
import { explainServerFault } from '#src/server-faults.ts';

export type MetricsAppOptions = {
  /** Named by `/readyz`: on one machine a process may have taken the port of another one. */
  name: string;
  registry: Registry;
  /** Resolves to why the process cannot work, or rejects; resolves to undefined if it can. */
  findUnreachable: () => Promise<string | undefined>;
  logger: FastifyBaseLogger;
};

/** Prometheus and the probes of an orchestrator need a few connections, and send no bodies. */
const BOUNDS = { bodyMaxBytes: 1_024, connectionsMax: 100 };

/** Redis's driver reports a lost server by errors of its own, so a code of a socket is from Postgres. */
const explainUnreachable = (error: Error): string | undefined => {
  if (!isUnreachable(error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return `Postgres is unreachable (${code}). Check the DATABASE_URL of this process, that the server runs, and the network to it.`;
};

/**
 * Builds the server of `GET /metrics` (Prometheus), `GET /healthz` (the process is alive) and `GET /readyz` (it can
 * work). It has no login: expose it to the network of the fleet only. No metric contains a secret.
 * @returns the app, not listening
 */
export const buildMetricsApp = async ({
  name,
  registry,
  findUnreachable,
  logger,
}: MetricsAppOptions): Promise<FastifyInstance> => {
  // Less than Prometheus's default scrape timeout, 10 s.
  const app = createServer(logger, BOUNDS, { handlerTimeout: 9_000 });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', registry.contentType);
    return registry.metrics();
  });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const fault = await findUnreachable().catch((thrown: unknown) => {
      const error = coerceError(thrown);
      return explainServerFault(error) ?? explainUnreachable(error) ?? safeMessage(error);
    });
    return fault === undefined ? `${name}: ready\n` : reply.code(503).send(`${name}: not ready: ${fault}\n`);
  });
  await app.ready();
  return app;
};
