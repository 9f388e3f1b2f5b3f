import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Headers of every response, unless its server sets another, so that a browser neither guesses its type nor frames it. */
export const DEFAULT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
} as const;

/** After the reply, a connection is kept this long, so that the client can read it. */
const LINGER_MS = 1_000;

/**
 * Answers on a socket for which Node creates no response object, and closes it. Closed at once, with a byte of the
 * client unread, the kernel would reset the connection and the client would lose the reply.
 */
export const answerSocket = (
  socket: Socket,
  status: number,
  body = '',
  headers: Record<string, string> = {},
): void => {
  // The socket is closed already, or this is a later byte of a client that has its reply.
  if (!socket.writable) return;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries({ ...DEFAULT_HEADERS, 'content-type': 'text/plain; charset=utf-8', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};
