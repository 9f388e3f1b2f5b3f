import type { FastifyInstance } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';
import { success } from '#src/api/wire.ts';

/**
 * Adds `GET /healthz` (the process is alive), `GET /readyz` (database and queue are reachable) and
 * `GET /readyz?only=database`. Load balancers use the last one, because the API works while the queue is unreachable.
 * These routes require no token.
 * @param ready rejects if `what` is unreachable
 */
export const addHealthRoutes = (
  app: FastifyInstance,
  ready: (what: 'all' | 'database') => Promise<void>,
): void => {
  app.get('/healthz', async () => success(null));
  app.get<{ Querystring: { only?: unknown } }>('/readyz', async ({ query }) => {
    try {
      await ready(query.only === 'database' ? 'database' : 'all');
    } catch (cause) {
      throw new ApiError('unavailable', undefined, { cause });
    }
    return success(null);
  });
};
