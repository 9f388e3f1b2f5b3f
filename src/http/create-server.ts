import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { answerSocket, DEFAULT_HEADERS } from '#src/http/answer-socket.ts';

/** What a server spends on one client and on all of them. */
export type ServerBounds = {
  /** Largest body of a request, unless its route sets another. */
  bodyMaxBytes: number;
  /** Connections at once. Node closes further ones as soon as it accepts them. */
  connectionsMax: number;
  /** Longest time in which a client reads a response. Default: `SEND_MS`. */
  sendMs?: number;
};

/** Longest duration of a whole request, headers and body. Then the client gets 408 and the connection is closed. */
export const REQUEST_TIMEOUT_MS = 10_000;

/**
 * A client that reads more slowly is cut off, such as one of 10 MiB that reads less than 87 KB a second. Node itself would
 * wait for ever.
 */
const SEND_MS = 2 * 60_000;

/** Requests of one connection that wait for their turn. Clients that send several at once send a few. */
const WAITING_MAX = 100;

/** Node looks for requests that have timed out this often; its default is 30 s. */
const TIMEOUT_CHECK_MS = 1_000;

/** Statuses of requests that Node refuses before a handler sees them; 400 for any other. */
const CLIENT_ERRORS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers a request that is not HTTP, too large or too slow. */
const answerClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code !== 'ECONNRESET') answerSocket(socket, CLIENT_ERRORS[error.code ?? ''] ?? 400);
};

/** Answers a request whose path does not decode. No hook has run before. */
const refusePath = ({ statusCode = 400 }: FastifyError, _request: FastifyRequest, reply: FastifyReply) =>
  void reply.code(statusCode).headers(DEFAULT_HEADERS).type('text/plain').send('There is no such path.\n');

/**
 * Handles the requests of a connection one after another, as HTTP/1.1 answers them, and cuts off a client that has too many
 * waiting. Node would start a handler for each at once.
 */
const handleInTurn = (app: FastifyInstance): void => {
  const queues = new WeakMap<Socket, { last: ServerResponse; waiting: number }>();
  app.addHook('onRequest', ({ raw: { socket } }, { raw }, done) => {
    const queue = queues.get(socket);
    if (queue === undefined || queue.last.closed) {
      queues.set(socket, { last: raw, waiting: 0 });
      return done();
    }
    const { last } = queue;
    queue.last = raw;
    queue.waiting += 1;
    if (queue.waiting > WAITING_MAX) return void socket.destroy();
    last.once('close', () => {
      queue.waiting -= 1;
      if (!socket.destroyed) done();
    });
  });
};

/** Creates a server, as every process of the fleet uses it. It logs no requests, and cuts off clients that send or read slowly. */
export const createServer = (
  logger: FastifyBaseLogger,
  { bodyMaxBytes, connectionsMax, sendMs = SEND_MS }: ServerBounds,
  options: FastifyHttpOptions<Server> = {},
): FastifyInstance => {
  const app: FastifyInstance = fastify({
    clientErrorHandler: answerClientError,
    frameworkErrors: refusePath,
    ...options,
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyMaxBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_MS, ...options.http },
  });
  // Set because Node's default is longer than `requestTimeout`, and Node then exchanges the two, so that a body would have
  // a minute.
  app.server.headersTimeout = REQUEST_TIMEOUT_MS;
  app.server.maxConnections = connectionsMax;
  handleInTurn(app);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(DEFAULT_HEADERS);
    done();
  });
  app.addHook('onSend', (_request, { raw }, _payload, done) => {
    if (!raw.closed) {
      const late = setTimeout(() => raw.destroy(), sendMs).unref();
      raw.once('close', () => clearTimeout(late));
    }
    done();
  });
  return app;
};
