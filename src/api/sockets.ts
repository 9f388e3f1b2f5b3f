import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_UTF8 } from '#src/api/wire.ts';
import { failureResponse, type PlatformFailure, statusOf } from '#src/contract/platform-codes.ts';

/** Write a response to a socket for which Node creates no response object. */
const answerSocket = (socket: Socket, failure: PlatformFailure): void => {
  if (!socket.writable) return void socket.destroy();
  const status = statusOf(failure);
  const body = JSON.stringify(failureResponse(failure));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${JSON_UTF8}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
};

const CLIENT_ERRORS: Record<string, PlatformFailure> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
};

/** Answer bytes that Node's HTTP parser rejects. */
export const answerClientError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  answerSocket(socket, CLIENT_ERRORS[error.code ?? ''] ?? 'invalidHttp');
};

/** Answer the requests that Node does not pass to Fastify: CONNECT, an unsupported `Expect` header, RTSP methods. */
export const answerUnroutedRequests = (server: Server): void => {
  // Node parses RTSP methods, but Fastify cannot route them. They are treated as TRACE, which gets 405 or 404.
  server.prependListener('request', (request: IncomingMessage) => {
    if (!METHODS.includes(request.method ?? '')) request.method = 'TRACE';
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node no longer handles errors of this socket: a reset by the caller would end the process.
    socket.on('error', () => socket.destroy());
    answerSocket(socket, 'wrongMethod');
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(failureResponse('unmetExpectation'));
    response.writeHead(statusOf('unmetExpectation'), {
      'content-type': JSON_UTF8,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    });
    response.end(body);
  });
};
