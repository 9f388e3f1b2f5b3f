import { constants } from 'node:crypto';
import { Agent, buildConnector, type Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { SenderClient, type SenderRequest, wrapConnector } from '#src/egress/connection.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import { proxyError } from '#src/egress/transport-errors.ts';

/** Less than the idle timeout of most servers (Node and Apache: 5 s), so they rarely close a connection that we reuse. */
export const IDLE_CONNECTION_MS = 4_000;

/**
 * `rejectUnauthorized` is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect. A server that renegotiates
 * without end would use this process without sending a byte of a response.
 */
export const TLS = { rejectUnauthorized: true, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/** The connections of a sender. */
export type SenderAgent = {
  /** Sends a request. From its start on, `request.served.by` is the client that serves it. */
  dispatch: (request: SenderRequest, handler: Dispatcher.DispatchHandler) => void;
  destroy: () => Promise<void>;
};

const createPool = (origin: string | URL, options: Pool.Options): Pool =>
  new Pool(origin, { ...options, factory: (url, own: Client.Options) => new SenderClient(url, own) });

/**
 * Creates the connections of a sender: only to where `egress` allows, through its proxy if it has one, and each with a
 * bounded number of bytes for a call. @param connectTimeoutMs deadline of name look-up, connection and TLS handshake
 * together
 */
export const createAgent = (egress: EgressPolicy, connectTimeoutMs: number): SenderAgent => {
  const options = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    // Keep-Alive of a response may shorten the idle time, not extend it.
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // The deadline of the call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: createPool,
  };
  const timeout = connectTimeoutMs;
  if (egress.proxy === undefined) {
    const connect = buildConnector({ ...TLS, lookup: egress.lookup, timeout, allowH2: false });
    return new Agent({ ...options, connect });
  }
  // The tunnel hides the token from the proxy.
  const tls = { ...TLS, timeout };
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
        headersTimeout: timeout,
      }),
  });
};
