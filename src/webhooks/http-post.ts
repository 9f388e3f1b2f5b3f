import { setImmediate as nextTurn } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Dispatcher } from 'undici';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, MEMORY, WIRE } from '#src/rules/budgets.ts';
import { createAgent } from '#src/webhooks/agent.ts';
import type { Admission } from '#src/webhooks/answer-memory.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { aborted, WebhookError } from '#src/webhooks/errors.ts';
import { exchangeError } from '#src/webhooks/transport-errors.ts';

/** zstd is not accepted: a frame may require a window of 128 MiB. */
export const ACCEPT_ENCODING = 'gzip, br';

const HEADERS = {
  'user-agent': 'game-catalogue',
  accept: 'application/json',
  'accept-encoding': ACCEPT_ENCODING,
  'content-type': 'application/json; charset=utf-8',
};

/** What arrives for one call besides the bytes of its body. A call's `traffic` counts while it runs. */
export type Traffic = {
  /** Pieces of the body, each with work of its own, and interim (1xx) responses. */
  pieces: number;
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
      const { signal } = request;
      const verdict = egress.checkUrl(request.url);
      if (!verdict.ok) {
        throw new WebhookError('forbidden_address', `its address is not allowed: ${verdict.reason}`);
      }
      if (signal.aborted) throw aborted();
      const exchange = startExchange(agent, verdict.url, request);
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

type Received = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body before decompression; null if it is larger than `maxBytes`, and of a redirect, whose body is not read. */
  bytes: Buffer | null;
};

type Exchange = {
  /** Rejects with a WebhookError. */
  response: Promise<Received>;
  /** Destroys the connection, or forgets a request that waits for one. */
  abort: () => void;
};

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/**
 * Collects the pieces of a body. One buffer that doubles receives them: a list of pieces would keep a Buffer object and
 * a whole packet for each piece, even a piece of one byte.
 */
const createCollector = () => {
  let bytes: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    length: () => length,
    add: (piece: Buffer): void => {
      const total = length + piece.length;
      if (length === 0) {
        bytes = piece;
      } else {
        if (total > bytes.length) {
          const grown = Buffer.allocUnsafeSlow(Math.max(total, 2 * length));
          bytes.copy(grown, 0, 0, length);
          bytes = grown;
        }
        piece.copy(bytes, length);
      }
      length = total;
    },
    collected: () => bytes.subarray(0, length),
  };
};

/**
 * Sends one request and collects the whole response. undici's own `request` makes a stream of each body: 9 % more CPU a
 * game.
 */
const startExchange = (
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  { accessToken, body: content, headers: own, maxBytes, admitLarge, traffic = { pieces: 0 } }: PostRequest,
): Exchange => {
  const { promise: response, resolve, reject } = Promise.withResolvers<Received>();
  const body = createCollector();
  let status = 0;
  let headers: Received['headers'] = {};
  let interimResponses = 0;
  let isAborted = false;
  let started: Dispatcher.DispatchController | undefined;
  let waiting: AbortController | undefined;

  const waitForMemory = async (controller: Dispatcher.DispatchController): Promise<void> => {
    if (admitLarge === undefined) return;
    waiting = new AbortController();
    controller.pause();
    try {
      await admitLarge(waiting.signal);
      controller.resume();
    } catch {
      controller.abort(aborted());
    }
  };

  const request = {
    origin,
    path: pathname + search,
    method: 'POST',
    headers: { ...HEADERS, ...own, ...(accessToken !== null && { authorization: `Bearer ${accessToken}` }) },
    body: content,
  };
  dispatcher.dispatch(request, {
    onRequestStart: (controller) => {
      started = controller;
      if (isAborted) controller.abort(aborted());
    },
    onResponseStart: (controller, statusCode, received) => {
      status = statusCode;
      headers = received;
      if (isRedirect(status)) {
        resolve({ status, headers, bytes: null });
        controller.abort(aborted());
      } else if (status < 200) {
        traffic.pieces += 1;
        interimResponses += 1;
        if (interimResponses > WIRE.interimResponses) {
          const message = `more than ${WIRE.interimResponses} interim (1xx) responses came before it`;
          throw new WebhookError('body_too_large', message);
        }
      }
    },
    onResponseData: (controller, piece) => {
      traffic.pieces += 1;
      const before = body.length();
      const total = before + piece.length;
      if (total > maxBytes) {
        resolve({ status, headers, bytes: null });
        controller.abort(aborted());
        return;
      }
      body.add(piece);
      if (total > MEMORY.ordinaryBytes && before <= MEMORY.ordinaryBytes) void waitForMemory(controller);
    },
    onResponseEnd: () => resolve({ status, headers, bytes: body.collected() }),
    onResponseError: (_controller, error) => reject(exchangeError(error, { isResponding: status >= 200 })),
  });

  return {
    response,
    abort: () => {
      isAborted = true;
      started?.abort(aborted());
      waiting?.abort();
    },
  };
};
