import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import pTimeout from 'p-timeout';
import { ApiError } from '#src/api/api-error.ts';

export type RateLimit = {
  /** Calls that one token may make within the window. */
  max: number;
  timeWindowMs: number;
};

/** Twenty calls a second, in bursts as the caller likes: all of 100,000 games in under a minute. */
export const RATE_LIMIT_DEFAULT: RateLimit = { max: 1_200, timeWindowMs: 60_000 };

/** Longer than Redis ever takes that answers. */
const REDIS_WAIT_MS = 250;

/**
 * A hook that bounds the calls of one token; it stands after authentication, so that only real tokens are
 * counted. With Redis a fleet counts together; while Redis is away, or silent, calls are let through and do not
 * wait for it: the limit is there for the platform's sake, and an API that stops with it would serve nobody.
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
        `This token may make ${max} calls in ${timeWindowMs / 1_000} s: go on in ${Math.ceil(ttl / 1_000)} s.`,
      ),
  });
  const limit = app.rateLimit() as onRequestAsyncHookHandler;
  if (redis === undefined) return limit;
  return async function limitWhileRedisAnswers(request, reply) {
    if (redis.status !== 'ready') return;
    const limited = Promise.resolve(limit.call(this, request, reply));
    await pTimeout(limited, { milliseconds: REDIS_WAIT_MS, message: false });
  };
};
