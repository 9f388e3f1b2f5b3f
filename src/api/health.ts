import type { FastifyInstance } from 'fastify';
import { Refusal } from './refusal.ts';
import { success } from './success.ts';

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: what it stands on answers too, so that a load balancer
 * may send it calls. Both without a token.
 * @param ready rejects while the database or the queue can't be reached
 */
export const addHealthRoutes = (app: FastifyInstance, ready: () => Promise<void>): void => {
  app.get('/healthz', async () => success(null));
  app.get('/readyz', async () => {
    try {
      await ready();
    } catch (cause) {
      throw new Refusal('unavailable', undefined, { cause });
    }
    return success(null);
  });
};
