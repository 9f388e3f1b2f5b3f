import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_UTF8 } from '#src/api/wire.ts';
import { failureResponse, type PlatformFailure, statusOf } from '#src/contract/platform-codes.ts';
import { answerSocket, DEFAULT_HEADERS } from '#src/http/answer-socket.ts';

const answerFailure = (
  socket: Socket,
  failure: PlatformFailure,
  headers: Record<string, string> = {},
): void =>
  answerSocket(socket, statusOf(failure), JSON.stringify(failureResponse(failure)), {
    'content-type': JSON_UTF8,
    ...headers,
  });

const CLIENT_ERRORS: Record<string, PlatformFailure> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
};

/** Answers bytes that Node's HTTP parser rejects. */
export const answerClientError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code !== 'ECONNRESET') answerFailure(socket, CLIENT_ERRORS[error.code ?? ''] ?? 'invalidHttp');
};

/** Answers the requests that Node does not pass to Fastify: CONNECT, an unsupported `Expect` header, RTSP methods. */
export const answerUnroutedRequests = (server: Server): void => {
  // Node parses RTSP methods, but Fastify cannot route them. They are treated as TRACE, which gets 405 or 404.
  server.prependListener('request', (request: IncomingMessage) => {
    if (!METHODS.includes(request.method ?? '')) request.method = 'TRACE';
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node no longer handles errors of this socket, so a reset by the caller would end the process.
    socket.on('error', () => socket.destroy());
    answerFailure(socket, 'wrongMethod', { Allow: 'GET, HEAD, POST' });
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(failureResponse('unmetExpectation'));
    response.writeHead(statusOf('unmetExpectation'), {
      ...DEFAULT_HEADERS,
      'content-type': JSON_UTF8,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    });
    response.end(body);
  });
};
