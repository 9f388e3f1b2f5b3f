import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Cluster, Redis } from 'ioredis';
import type { Database } from '#db/client.ts';
import { ApiError, toApiError } from '#src/api/api-error.ts';
import { createAuthenticator } from '#src/api/authenticate.ts';
import { createDeadline } from '#src/api/deadline.ts';
import { addDocumentRoutes } from '#src/api/documents.ts';
import { addEventRoutes } from '#src/api/events.ts';
import { addGameRoutes } from '#src/api/games.ts';
import { addHealthRoutes } from '#src/api/health.ts';
import { addOperatorRoutes } from '#src/api/operator-routes.ts';
import { addPictureRoutes } from '#src/api/pictures.ts';
import { createRateLimit, RATE_LIMIT_DEFAULT, type RateLimit } from '#src/api/rate-limit.ts';
import { answerClientError, answerUnroutedRequests } from '#src/api/sockets.ts';
import { addTalkRoutes } from '#src/api/talk.ts';
import { BODY_MAX_BYTES, JSON_UTF8, useStrictJson } from '#src/api/wire.ts';
import { failureResponse, type PlatformFailure, statusOf } from '#src/contract/platform-codes.ts';
import { DEFAULT_HEADERS } from '#src/http/answer-socket.ts';
import { createServer, REQUEST_TIMEOUT_MS } from '#src/http/create-server.ts';
import { createLimitedLog } from '#src/http/limited-log.ts';
import type { Platform } from '#src/operations/operation.ts';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';

export type ApiOptions = {
  sql: Database;
  /** Time zone of audit_time, an IANA name (AUDIT_TIME_ZONE). */
  auditTimeZone: string;
  pictures?: {
    /** Where readers find the pictures of passed games. Undefined: where the application has them. */
    url: () => string | undefined;
    /** The directory of the store, if this server serves the pictures. */
    directory: string | undefined;
  };
  /** What the operator API works with. Absent: this server has none. */
  operator?: Platform | undefined;
  /** Default: `RATE_LIMIT_DEFAULT`. */
  rateLimit?: RateLimit;
  /** Counts the calls of a token in the whole fleet. The caller closes it. */
  redis?: Redis | Cluster | undefined;
  logger: FastifyBaseLogger;
  /** Rejects while the database, or with `all` the database or the queue, is unreachable. */
  ready: (what: 'all' | 'database') => Promise<void>;
};

const BOUNDS = { bodyMaxBytes: BODY_MAX_BYTES, connectionsMax: 10_000 };

/**
 * Builds the HTTP server of the platform-side operations (interface document, sections 4.1 and 4.2) and the additions
 * to them, and of the operator API; it does not listen yet. A call passes the deadline, authentication, the rate limit
 * and the validation of its body. Its handler then reads the database, and the response is validated. Every response
 * except documents and pictures is an envelope.
 */
export const buildApi = async (options: ApiOptions): Promise<FastifyInstance> => {
  // `sendFailure` logs failures of the platform. Other calls are not logged.
  const sendFailure = createFailureSender();
  const app = createServer(options.logger, BOUNDS, {
    // Node would refuse a missing Host without an envelope; the hook below refuses it with one.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      // No hook has run before this handler.
      sendFailure(toApiError(error), request, reply.headers(DEFAULT_HEADERS));
    },
  });
  answerUnroutedRequests(app.server);
  useStrictJson(app);

  app.decorateRequest('caller', null);
  app.setErrorHandler((error, request, reply) => sendFailure(toApiError(error), request, reply));

  const methodsByPath = collectMethods(app);
  app.addHook('onRequest', createDeadline(REQUEST_TIMEOUT_MS, sendFailure));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    // RFC 9112, section 3.2. Node keeps the first of several; a proxy before us may read another.
    const hosts = request.raw.headersDistinct.host?.length ?? 0;
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) throw new ApiError('invalidHttp');
    // Fastify's own 404 handler would read the body first.
    if (request.is404) {
      const [path = ''] = request.url.split('?', 1);
      throw routeError(methodsByPath.get(path), path, options.operator !== undefined);
    }
  });

  const authenticator = createAuthenticator(options.sql);
  app.addHook('onClose', authenticator.close);
  const limitRate = await createRateLimit(app, options.rateLimit ?? RATE_LIMIT_DEFAULT, options.redis);

  const onRequest = [authenticator.authenticate, limitRate];
  const formatAuditTime = createAuditTimeFormatter(options.auditTimeZone);
  const { pictures } = options;
  addGameRoutes(app, { ...options, formatAuditTime, pictureUrl: () => pictures?.url(), onRequest });
  // A body may take ten seconds, in which a token is revoked or its operator disabled. So the caller of a write is read
  // again.
  const guard = { onRequest, preHandler: [authenticator.authenticate] };
  addEventRoutes(app, { ...options, formatAuditTime, guard });
  addTalkRoutes(app, { ...options, guard });
  addHealthRoutes(app, options.ready);
  if (options.operator !== undefined)
    addOperatorRoutes(app, { platform: { ...options.operator, formatAuditTime }, guard });
  addDocumentRoutes(app, options.operator !== undefined);
  if (pictures?.directory !== undefined) addPictureRoutes(app, pictures.directory);
  await app.ready();
  return app;
};

/** @returns the methods of each path; routes that are added later are included */
const collectMethods = (app: FastifyInstance): Map<string, Set<string>> => {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ path, method }) => {
    const known = methods.get(path) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(path, known);
  });
  return methods;
};

const routeError = (allowed: Set<string> | undefined, path: string, hasOperatorApi: boolean): ApiError => {
  if (allowed !== undefined)
    return new ApiError('wrongMethod', undefined, { headers: { allow: [...allowed].join(', ') } });
  if (!path.startsWith('/operator-api/')) return new ApiError('noSuchPath');
  const problem = hasOperatorApi
    ? 'There is no operation at this path: /operator-docs lists the operations.'
    : 'This process does not serve the operator API.';
  return new ApiError('noSuchPath', problem);
};

/** The refusals of valid tokens that are logged, at most one line a second for each kind. */
const LOGGED: ReadonlySet<PlatformFailure> = new Set(['forbidden', 'tooManyRequests']);

const createFailureSender = () => {
  const warn = createLimitedLog();
  return (error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { failure } = error;
    const status = statusOf(failure);
    if (status >= 500) {
      const { method, url } = request;
      request.log.error({ err: error.cause ?? error, method, url }, `responded ${status}`);
    } else if (LOGGED.has(failure)) {
      const token_id = request.caller?.token_id;
      warn(request.log, failure, { failure, status, token_id, address: request.ip }, 'call refused');
    }
    return reply
      .code(status)
      .headers(error.headers)
      .header('content-type', JSON_UTF8)
      .serializer(JSON.stringify)
      .send(failureResponse(failure, error.message));
  };
};
