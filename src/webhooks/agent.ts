import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { WIRE } from '#src/rules/budgets.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { connectError, proxyError } from '#src/webhooks/transport-errors.ts';

/** Less than the idle timeout of most servers (Node and Apache: 5 s): they rarely close a connection that we reuse. */
const IDLE_CONNECTION_MS = 4_000;

/**
 * `rejectUnauthorized` is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect. A server that renegotiates
 * without end would use this process without sending a byte of a response.
 */
const TLS = { rejectUnauthorized: true, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/**
 * The connections of a sender: where `egress` allows, through its proxy if it has one, and each with a bounded number of
 * bytes for a call. @param connectTimeoutMs deadline of name look-up, connection and TLS handshake together
 */
export const createAgent = (egress: EgressPolicy, connectTimeoutMs: number): Dispatcher => {
  const options = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    // Keep-Alive of a response may shorten the idle time, not extend it.
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // The deadline of the call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (egress.proxy === undefined) {
    const connect = buildConnector({
      ...TLS,
      lookup: egress.lookup,
      timeout: connectTimeoutMs,
      allowH2: false,
    });
    return new Agent({ ...options, connect: wrapConnector(connect, connectError, limitWireBytes) });
  }
  // The tunnel hides the token from the proxy.
  const tls = { ...TLS, timeout: connectTimeoutMs };
  return new ProxyAgent({
    ...options,
    uri: egress.proxy,
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: tls,
    // A proxy that does not answer CONNECT in time is a connection that is not made in time.
    clientFactory: (origin, { connect }: Pool.Options) =>
      new Pool(origin, {
        connect: wrapConnector(connect as buildConnector.connector, proxyError),
        headersTimeout: connectTimeoutMs,
      }),
    factory: (origin, pool: Pool.Options) =>
      new Pool(origin, {
        ...pool,
        connect: wrapConnector(pool.connect as buildConnector.connector, connectError, limitWireBytes),
      }),
  });
};

/** A connector whose errors name what failed, and whose connections `prepare` gets before undici does. */
const wrapConnector =
  (
    connect: buildConnector.connector,
    nameError: (error: Error, isTls: boolean) => WebhookError,
    prepare: (socket: Socket) => void = () => {},
  ): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error !== null) return callback(nameError(error, options.protocol === 'https:'), null);
      prepare(socket);
      return callback(...result);
    });

/**
 * Destroys a connection that receives more than `WIRE.bytes` or `WIRE.sessionTickets` for one call. The reader of a body
 * counts its bytes; only this limit counts those around it (extensions of chunks, headers, trailers). `bytesRead` of a
 * TLS connection does not count tickets.
 */
const limitWireBytes = (socket: Socket): void => {
  let written = socket.bytesWritten;
  let before = socket.bytesRead;
  let tickets = 0;
  const refuse = (what: string) => socket.destroy(new WebhookError('body_too_large', what));
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) {
      // A request was sent since: what arrives now belongs to it.
      written = bytesWritten;
      before = bytesRead;
      tickets = 0;
    } else if (bytesRead - before > WIRE.bytes) {
      refuse(`the response has more than ${WIRE.bytes} bytes, body and all`);
    }
  });
  socket.on('session', () => {
    tickets += 1;
    if (tickets > WIRE.sessionTickets)
      refuse(`more than ${WIRE.sessionTickets} TLS session tickets came with it`);
  });
};
