import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

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
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};
