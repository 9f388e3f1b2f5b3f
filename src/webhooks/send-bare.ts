import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { aborted, isRedirect, redirected, transportFault } from '#src/webhooks/faults.ts';
import { collect } from '#src/webhooks/read-body.ts';
import { type Answer, REQUEST_HEADERS, type Sender, type SenderOptions } from '#src/webhooks/sender.ts';
import { whenAborted } from '#src/webhooks/when-aborted.ts';

/** How far a call has come: what a failure of it means depends on that. */
type Progress = { inHandshake: boolean; answered: boolean };

/** Sends by `node:http` and `node:https` alone. */
export const createBareSender = ({ agents, callTimeoutMs, connectTimeoutMs }: SenderOptions): Sender => {
  const destinations = new WeakMap<URL, http.RequestOptions>();
  const destinationOf = (url: URL): http.RequestOptions => {
    let destination = destinations.get(url);
    if (destination === undefined) {
      const { protocol, hostname, port, path } = urlToHttpOptions(url);
      const agent = url.protocol === 'https:' ? agents.https : agents.http;
      destination = { protocol, hostname, port, path, agent, method: 'POST' };
      destinations.set(url, destination);
    }
    return destination;
  };

  return ({ url, accessToken, body, maxBytes, signal }) =>
    new Promise<Answer>((resolve, reject) => {
      const secure = url.protocol === 'https:';
      const headers: http.OutgoingHttpHeaders = {
        ...REQUEST_HEADERS,
        'content-length': Buffer.byteLength(body),
      };
      if (accessToken !== null) headers.authorization = `Bearer ${accessToken}`;
      const request = open(secure, { ...destinationOf(url), headers });
      const progress: Progress = { inHandshake: false, answered: false };

      const settle = (): void => {
        clearTimeout(deadline);
        forget();
      };
      // The first reason stands: what breaks because the request is destroyed has nothing more to say.
      const fail = (error: Error): void => {
        settle();
        reject(error);
        request.destroy();
      };
      const broken = (nodeCode: string | undefined, late = false): void =>
        fail(transportFault({ nodeCode, late, ...progress }));
      const onError = (error: NodeJS.ErrnoException): void => broken(error.code);
      const deadline = setTimeout(broken, callTimeoutMs, 'ETIMEDOUT', true);
      const forget = whenAborted(signal, () => fail(aborted()));

      request.on('error', onError);
      // A server that switches protocols, say: closed without an error and without an answer.
      request.once('close', () => {
        if (!progress.answered) broken('ECONNRESET');
      });
      request.once('socket', (socket: Socket) => {
        if (socket.connecting)
          watchConnection(request, socket, secure, progress, connectTimeoutMs, () => broken('ETIMEDOUT'));
      });
      request.once('response', (response) => {
        progress.answered = true;
        const { statusCode: status = 0, headers } = response;
        response.on('error', onError);
        if (isRedirect(status)) return fail(redirected(status));
        collect(response, maxBytes, (bytes) => {
          settle();
          if (bytes === null) request.destroy();
          const retryAfter = headers['retry-after'];
          resolve({ status, retryAfter, contentEncoding: headers['content-encoding'], bytes });
        });
      });
      request.end(body);
    });
};

const open = (secure: boolean, options: http.RequestOptions): ClientRequest => {
  try {
    return (secure ? https : http).request(options);
  } catch (error) {
    // A token that no header can hold: node's error would show it.
    const nodeCode = (error as NodeJS.ErrnoException).code;
    throw transportFault({ nodeCode, late: false, answered: false, inHandshake: false });
  }
};

/** Follow a new connection through look-up, connection and handshake, each with `limitMs` of its own. */
const watchConnection = (
  request: ClientRequest,
  socket: Socket,
  secure: boolean,
  progress: Progress,
  limitMs: number,
  expire: () => void,
): void => {
  const timer = setTimeout(expire, limitMs);
  const stop = (): void => clearTimeout(timer);
  socket.once('lookup', () => void timer.refresh());
  socket.once('connect', () => {
    if (!secure) return stop();
    timer.refresh();
    progress.inHandshake = true;
  });
  if (secure) {
    socket.once('secureConnect', () => {
      progress.inHandshake = false;
      stop();
    });
  }
  request.once('close', stop);
};
