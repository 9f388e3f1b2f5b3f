import type { FastifyInstance } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';
import { success } from '#src/api/wire.ts';

/**
 * Add `GET /healthz` (the process is alive), `GET /readyz` (database and queue are reachable) and
 * `GET /readyz?only=database`, for load balancers: the API answers calls without the queue. None needs a token.
 * @param ready rejects if one of them is unreachable
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
