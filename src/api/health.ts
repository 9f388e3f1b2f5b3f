import type { FastifyInstance } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';
import { success } from '#src/api/wire.ts';

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: database and queue answer too; with `?only=database` that one
 * alone, for a load balancer, since calls are answered without the queue. All without a token.
 * @param ready rejects while what is asked for can't be reached
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
