import { setImmediate as nextTurn } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '#src/rules/budgets.ts';
import type { Admission } from '#src/webhooks/answer-memory.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { aborted, WebhookError } from '#src/webhooks/errors.ts';
import { isRedirect, startExchange } from '#src/webhooks/exchange.ts';
import { limitWireBytes, type Traffic } from '#src/webhooks/traffic.ts';
import { connectError } from '#src/webhooks/transport-errors.ts';

/** Less than the idle timeout of most servers (Node and Apache: 5 s): they rarely close a connection that we reuse. */
const IDLE_CONNECTION_MS = 4_000;

/** zstd is not accepted: a frame may require a window of 128 MiB. */
export const ACCEPT_ENCODING = 'gzip, br';

const HEADERS = {
  'user-agent': 'game-catalogue',
  accept: 'application/json',
  'accept-encoding': ACCEPT_ENCODING,
  'content-type': 'application/json; charset=utf-8',
};

export type PostRequest = {
  url: string;
  /** null: no Authorization header. */
  accessToken: string | null;
  /** JSON text. */
  body: string;
  /** Added to the headers that every request has. */
  headers?: Record<string, string>;
  /** At most this many bytes of the response's body are read, before decompression. */
  maxBytes: number;
  /** Resolves when a body larger than `MEMORY.ordinaryBytes` may be read. */
  admitLarge?: Admission['admit'];
  /** Counts what arrives, also of a call that fails. */
  traffic?: Traffic;
  signal: AbortSignal;
};

export type PostResponse = {
  status: number;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body before decompression; null if it is larger than `maxBytes`. */
  bytes: Buffer | null;
};

export type HttpPostOptions = {
  egress: EgressPolicy;
  /** Deadline of the whole call, until the last byte of the body. */
  callTimeoutMs?: number | undefined;
  /** Deadline of name look-up, connection and TLS handshake together. */
  connectTimeoutMs?: number | undefined;
};

export type HttpPost = {
  /**
   * Sends one POST over a kept-alive connection. Resolves with any status, 4xx and 5xx too, except a redirect.
   *
   * @throws WebhookError `forbidden_address`, `name_not_found`, `connect_failed`, `tls_failed`, `timeout`,
   *   `connection_lost`, `redirect`, `aborted`, or `body_too_large` if more than `WIRE` allows came around the body
   */
  post(request: PostRequest): Promise<PostResponse>;
  /** Destroys every connection. */
  close(): void;
};

/**
 * The sender of the three webhooks and of events: checks the address, connects where `egress` allows, sends, and reads
 * at most `maxBytes`. The proxies of HTTP_PROXY and HTTPS_PROXY are not used, because the agent is our own.
 */
export const createHttpPost = (options: HttpPostOptions): HttpPost => {
  const { egress, callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const agent = createAgent(egress, connectTimeoutMs);

  return {
    post: async (request) => {
      const { maxBytes, admitLarge, traffic = { pieces: 0 }, signal } = request;
      const verdict = egress.checkUrl(request.url);
      if (!verdict.ok) {
        throw new WebhookError('forbidden_address', `its address is not allowed: ${verdict.reason}`);
      }
      if (signal.aborted) throw aborted();
      const exchange = startExchange(agent, toDispatch(request, verdict.url), {
        maxBytes,
        admitLarge,
        traffic,
      });
      const { status, headers, bytes } = await pTimeout(exchange.response, {
        milliseconds: callTimeoutMs,
        fallback: () => {
          throw new WebhookError('timeout', `no whole response within ${callTimeoutMs} ms`);
        },
        signal,
      }).catch((error: unknown) => {
        exchange.abort();
        throw signal.aborted ? aborted() : error;
      });
      // undici frees the connection in the next turn of the event loop: a call before that opens a second one.
      await nextTurn();
      if (isRedirect(status)) {
        throw new WebhookError('redirect', `the response is a redirect (${status})`, { status });
      }
      const retryAfter = headers['retry-after']?.toString();
      const contentEncoding = headers['content-encoding']?.toString();
      return { status, retryAfter, contentEncoding, bytes };
    },
    close: () => void agent.destroy(),
  };
};

const toDispatch = (
  { accessToken, body, headers }: PostRequest,
  { origin, pathname, search }: URL,
): Dispatcher.DispatchOptions => ({
  origin,
  path: pathname + search,
  method: 'POST',
  headers: {
    ...HEADERS,
    ...headers,
    ...(accessToken !== null && { authorization: `Bearer ${accessToken}` }),
  },
  body,
});

const createAgent = (egress: EgressPolicy, connectTimeoutMs: number): Dispatcher => {
  const options = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    // Keep-Alive of a response may shorten the idle time, not extend it.
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // `callTimeoutMs` covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (egress.proxy === undefined)
    return new Agent({ ...options, connect: limitConnections(createConnector(egress, connectTimeoutMs)) });
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect. The tunnel hides the token from the proxy.
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  return new ProxyAgent({
    ...options,
    uri: egress.proxy,
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: tls,
    factory: (origin, pool: Pool.Options) =>
      new Pool(origin, { ...pool, connect: limitConnections(pool.connect as buildConnector.connector) }),
  });
};

/** A connector whose connections receive a bounded number of bytes for each call. */
const limitConnections =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) limitWireBytes(socket);
      callback(...result);
    });

/** undici's connector. Its errors name the phase that failed: look-up, connection or TLS handshake. */
const createConnector = ({ lookup }: EgressPolicy, timeout: number): buildConnector.connector => {
  // `rejectUnauthorized` is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
  const connect = buildConnector({ lookup, timeout, rejectUnauthorized: true, allowH2: false });
  return (options, callback) =>
    connect(options, (...result) => {
      const [error] = result;
      if (error === null) callback(...result);
      else callback(connectError(error, options.protocol === 'https:'), null);
    });
};
