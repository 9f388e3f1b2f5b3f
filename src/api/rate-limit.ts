import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import pTimeout from 'p-timeout';
import { ApiError } from '#src/api/api-error.ts';

export type RateLimit = {
  /** Calls of one token within the window. */
  max: number;
  timeWindowMs: number;
};

/** 20 calls a second on average, with bursts. 100,000 games are listed within a minute. */
export const RATE_LIMIT_DEFAULT: RateLimit = { max: 1_200, timeWindowMs: 60_000 };

/** Longest wait for Redis. */
const REDIS_WAIT_MS = 250;

/**
 * Create a hook that limits the calls of each token. It runs after authentication. With Redis the limit applies to the
 * whole fleet. If Redis does not answer in time, calls are not limited: the API does not depend on Redis.
 */
export const addRateLimit = async (
  app: FastifyInstance,
  { max, timeWindowMs }: RateLimit,
  redis: Redis | Cluster | undefined,
): Promise<onRequestAsyncHookHandler> => {
  await app.register(rateLimit, {
    global: false,
    max,
    timeWindow: timeWindowMs,
    keyGenerator: (request) => request.caller?.token_id ?? '',
    redis,
    nameSpace: 'catalogue-api-rate:',
    skipOnError: true,
    errorResponseBuilder: (_request, { ttl }) =>
      new ApiError(
        'tooManyRequests',
        `This token may make ${max} calls in ${timeWindowMs / 1_000} s: retry in ${Math.ceil(ttl / 1_000)} s.`,
      ),
  });
  const limit = app.rateLimit() as onRequestAsyncHookHandler;
  if (redis === undefined) return limit;
  return async function limitIfRedisAnswers(request, reply) {
    if (redis.status !== 'ready') return;
    const limited = Promise.resolve(limit.call(this, request, reply));
    await pTimeout(limited, { milliseconds: REDIS_WAIT_MS, message: false });
  };
};
