import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import pTimeout from 'p-timeout';
import { ApiError } from '#src/api/api-error.ts';

export type RateLimit = {
  /** Calls that one token may make within the window. */
  max: number;
  timeWindowMs: number;
};

/** 20 calls a second on average, with bursts, so that 100,000 games are listed within a minute, in 1,000 pages. */
export const RATE_LIMIT_DEFAULT: RateLimit = { max: 1_200, timeWindowMs: 60_000 };

/** Longest wait for Redis; then this process counts the call. */
const REDIS_WAIT_MS = 250;

const NAMESPACE = 'catalogue-api-rate:';

/** Most tokens whose calls this process counts. It forgets the least recently used one. */
const TOKENS_MAX = 10_000;

type Counted = (error: Error | null, counter?: { current: number; ttl: number }) => void;

/** @returns 0 for a counter that is no number, is a list, or is the largest number: somebody else wrote it */
const unlessForged = (error: Error): number => {
  if (error.name === 'ReplyError') return 0;
  throw error;
};

/**
 * The counters in Redis, by commands alone. The store of the library needs the right to run scripts, with which a stolen API
 * could stop Redis.
 */
const createStore = (redis: Redis | Cluster) => {
  const count = async (key: string, windowMs: number): Promise<{ current: number; ttl: number }> => {
    const [current, ttl] = await Promise.all([redis.incr(key).catch(unlessForged), redis.pttl(key)]);
    if (current < 1) {
      await redis.set(key, 1, 'PX', windowMs);
      return { current: 1, ttl: windowMs };
    }
    if (ttl >= 0 && ttl <= windowMs) return { current, ttl };
    await redis.pexpire(key, windowMs);
    // A counter without expiry, which a writer of Redis could set, would refuse a token for ever.
    if (current > 1) throw new Error('the counter of the token has no expiry of ours');
    return { current, ttl: windowMs };
  };
  return class {
    child = () => this;
    incr = (token_id: string, done: Counted, windowMs: number): void =>
      void count(`${NAMESPACE}${token_id}`, windowMs).then((counter) => done(null, counter), done);
  };
};

const tokenOf = (request: FastifyRequest): string => request.caller?.token_id ?? '';

/**
 * Creates a hook that limits the calls of each token. It runs after authentication. The limit applies to the whole fleet if
 * there is a Redis and it answers in time, otherwise to this process, because the API does not depend on Redis.
 */
export const createRateLimit = async (
  app: FastifyInstance,
  { max, timeWindowMs }: RateLimit,
  redis: Redis | Cluster | undefined,
): Promise<onRequestAsyncHookHandler> => {
  const tooManyRequests = (waitMs: number): ApiError => {
    const seconds = Math.ceil(waitMs / 1_000);
    return new ApiError(
      'tooManyRequests',
      `This token may make ${max} calls in ${timeWindowMs / 1_000} s: retry in ${seconds} s.`,
      { headers: { 'retry-after': String(seconds) } },
    );
  };
  await app.register(rateLimit, {
    // Only the hook below limits.
    global: false,
    max,
    timeWindow: timeWindowMs,
    keyGenerator: tokenOf,
    ...(redis && { store: createStore(redis) }),
    // An error of Redis is thrown, so that this process counts the call.
    skipOnError: false,
    errorResponseBuilder: (_request, { ttl }) => tooManyRequests(ttl),
  });
  const limit = app.rateLimit() as onRequestAsyncHookHandler;
  if (redis === undefined) return limit;

  /** @returns whether Redis counted the call @throws ApiError beyond the limit */
  const countInRedis = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    if (redis.status !== 'ready') return false;
    const counting = (limit.call(app, request, reply) as Promise<unknown>).then(() => true);
    try {
      // `message: false` returns undefined at the timeout, because an error with its stack would be made for every call.
      return (await pTimeout(counting, { milliseconds: REDIS_WAIT_MS, message: false })) ?? false;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      return false;
    }
  };

  const windows = new LRUCache<string, { calls: number; endsAt: number }>({ max: TOKENS_MAX });
  /** @throws ApiError beyond the limit */
  const countInProcess = (token_id: string): void => {
    const now = performance.now();
    let window = windows.get(token_id);
    if (window === undefined || window.endsAt <= now) window = { calls: 0, endsAt: now + timeWindowMs };
    window.calls += 1;
    windows.set(token_id, window);
    if (window.calls > max) throw tooManyRequests(window.endsAt - now);
  };
  return async (request, reply) => {
    if (!(await countInRedis(request, reply))) countInProcess(tokenOf(request));
  };
};
