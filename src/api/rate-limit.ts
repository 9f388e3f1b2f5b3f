import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
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

/** Tokens whose calls a process counts. */
const TOKENS_MAX = 10_000;

/** @returns whether Redis counted the call @throws ApiError beyond the limit */
const countInRedis = async (limited: unknown): Promise<boolean> => {
  try {
    await limited;
    return true;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return false;
  }
};

/**
 * Create a hook that limits the calls of each token. It runs after authentication. With Redis the limit applies to the
 * whole fleet. While Redis does not answer in time, it applies to each process: the API does not depend on Redis.
 */
export const addRateLimit = async (
  app: FastifyInstance,
  { max, timeWindowMs }: RateLimit,
  redis: Redis | Cluster | undefined,
): Promise<onRequestAsyncHookHandler> => {
  const tooMany = (waitMs: number): ApiError => {
    const seconds = Math.ceil(waitMs / 1_000);
    return new ApiError(
      'tooManyRequests',
      `This token may make ${max} calls in ${timeWindowMs / 1_000} s: retry in ${seconds} s.`,
      { headers: { 'retry-after': String(seconds) } },
    );
  };
  await app.register(rateLimit, {
    global: false,
    max,
    timeWindow: timeWindowMs,
    keyGenerator: (request) => request.caller?.token_id ?? '',
    redis,
    nameSpace: 'catalogue-api-rate:',
    skipOnError: false,
    errorResponseBuilder: (_request, { ttl }) => tooMany(ttl),
  });
  const limit = app.rateLimit() as onRequestAsyncHookHandler;
  if (redis === undefined) return limit;

  /** The windows of this process: used while Redis does not answer. */
  const windows = new LRUCache<string, { calls: number; endsAt: number }>({ max: TOKENS_MAX });
  const limitHere = (token_id: string): void => {
    const now = performance.now();
    let window = windows.get(token_id);
    if (window === undefined || window.endsAt <= now) window = { calls: 0, endsAt: now + timeWindowMs };
    window.calls += 1;
    windows.set(token_id, window);
    if (window.calls > max) throw tooMany(window.endsAt - now);
  };
  return async function limitCalls(request, reply) {
    const isCounted =
      redis.status === 'ready' &&
      (await pTimeout(countInRedis(limit.call(this, request, reply)), {
        milliseconds: REDIS_WAIT_MS,
        message: false,
      }));
    if (isCounted !== true) limitHere(request.caller?.token_id ?? '');
  };
};
