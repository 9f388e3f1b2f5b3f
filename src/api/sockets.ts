import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_UTF8 } from '#src/api/wire.ts';
import { failureResponse, type PlatformFailure, statusOf } from '#src/contract/platform-codes.ts';

/** Answer on a bare socket: what came was not a request that could be routed. */
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

/** What Node's parser could not read is answered in the envelope too. */
export const answerClientError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  answerSocket(socket, CLIENT_ERRORS[error.code ?? ''] ?? 'invalidHttp');
};

/** Requests that Node would answer or drop by itself, without telling Fastify. */
export const answerOddRequests = (server: Server): void => {
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has let go of it: a caller that resets it would end the process.
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
