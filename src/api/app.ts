import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import type { Database } from '#db/client.ts';
import { ApiError, toApiError } from '#src/api/api-error.ts';
import { createAuthenticator } from '#src/api/authenticate.ts';
import { createDeadline } from '#src/api/deadline.ts';
import { addDocumentRoutes } from '#src/api/documents.ts';
import { addGameRoutes } from '#src/api/games.ts';
import { addHealthRoutes } from '#src/api/health.ts';
import { addRateLimit, RATE_LIMIT_DEFAULT, type RateLimit } from '#src/api/rate-limit.ts';
import { answerClientError, answerOddRequests } from '#src/api/sockets.ts';
import { BODY_MAX_BYTES, JSON_UTF8, speakJson } from '#src/api/wire.ts';
import { failureResponse, statusOf } from '#src/contract/platform-codes.ts';

export type ApiOptions = {
  sql: Database;
  /** The zone audit_time is written in: an IANA name (AUDIT_TIME_ZONE). */
  auditTimeZone: string;
  /** Per token; without one `RATE_LIMIT_DEFAULT`. */
  rateLimit?: RateLimit;
  /** Where a fleet counts calls together. It stays the caller's: closing the API does not close it. */
  redis?: Redis | Cluster | undefined;
  logger: FastifyBaseLogger;
  /** Rejects while the database, or the database and the queue, can't be reached. */
  ready: (what: 'all' | 'database') => Promise<void>;
};

/** How long a call may take, its body included. */
const CALL_TIMEOUT_MS = 10_000;

/**
 * The platform's own operations (interface document, sections 4.1 and 4.2) over HTTP: built, not listening.
 * Every answer but the documents for people is an envelope, whatever went wrong.
 */
export const buildApi = async (options: ApiOptions): Promise<FastifyInstance> => {
  const app: FastifyInstance = fastify({
    loggerInstance: options.logger,
    // What is worth a line is logged below.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: CALL_TIMEOUT_MS,
    // Node would answer without an envelope; the hook below answers with one.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      answer(toApiError(error), request, reply);
    },
  });
  answerOddRequests(app.server);
  speakJson(app);

  app.decorateRequest('caller', null);
  app.setErrorHandler((error, request, reply) => answer(toApiError(error), request, reply));

  const allowed = collectMethods(app);
  app.addHook('onRequest', createDeadline(CALL_TIMEOUT_MS, answer));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw new ApiError('invalidHttp');
    // Here and not in a handler: a body for nobody is not read.
    if (request.is404) throw noRoute(allowed.get(request.url.split('?', 1)[0] ?? ''));
  });

  const authenticator = createAuthenticator(options.sql);
  app.addHook('onClose', authenticator.close);
  const limitRate = await addRateLimit(app, options.rateLimit ?? RATE_LIMIT_DEFAULT, options.redis);

  addGameRoutes(app, { ...options, onRequest: [authenticator.authenticate, limitRate] });
  addHealthRoutes(app, options.ready);
  addDocumentRoutes(app);
  await app.ready();
  return app;
};

/** The methods of every path that gets a route from here on. */
const collectMethods = (app: FastifyInstance): Map<string, Set<string>> => {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ path, method }) => {
    const known = methods.get(path) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(path, known);
  });
  return methods;
};

const noRoute = (allowed: Set<string> | undefined): ApiError =>
  allowed === undefined
    ? new ApiError('noSuchPath')
    : new ApiError('wrongMethod', undefined, { headers: { allow: [...allowed].join(', ') } });

const answer = (refusal: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const status = statusOf(refusal.failure);
  if (status >= 500) {
    const { method, url } = request;
    request.log.error({ err: refusal.cause ?? refusal, method, url }, `answered ${status}`);
  }
  return reply
    .code(status)
    .headers(refusal.headers)
    .header('content-type', JSON_UTF8)
    .serializer(JSON.stringify)
    .send(failureResponse(refusal.failure, refusal.message));
};
