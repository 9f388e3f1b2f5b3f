import { getDefaultHighWaterMark } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import { createAgent, type SenderAgent } from '#src/egress/agent.ts';
import type { Connection, SenderRequest } from '#src/egress/connection.ts';
import type { UrlVerdict } from '#src/egress/egress.ts';
import { aborted, CallError, tooManyInterim } from '#src/egress/errors.ts';
import type { HttpPost, HttpPostOptions, PostRequest } from '#src/egress/post.ts';
import { exchangeError } from '#src/egress/transport-errors.ts';
import { whenAborted } from '#src/egress/when-aborted.ts';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, MEMORY, WIRE } from '#src/rules/budgets.ts';

/** zstd is not accepted, because a frame may require a window of 128 MiB. */
export const ACCEPT_ENCODING = 'gzip, br';

const HEADERS = {
  'user-agent': 'game-catalogue',
  accept: 'application/json',
  'accept-encoding': ACCEPT_ENCODING,
  'content-type': 'application/json; charset=utf-8',
};

/** The verdicts of this many addresses are cached, because the policy does not change, and all calls of a page have one address. */
const VERDICTS_MAX = 1_000;

/**
 * The sender of the three webhooks and of events: checks the address, connects where `egress` allows, sends, and reads
 * at most `maxBytes`. The proxies of HTTP_PROXY and HTTPS_PROXY are not used, because the agent is our own.
 */
export const createHttpPost = (options: HttpPostOptions): HttpPost => {
  const { egress, callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const agent = createAgent(egress, connectTimeoutMs);
  const verdicts = new LRUCache<string, UrlVerdict>({ max: VERDICTS_MAX, memoMethod: egress.checkUrl });

  return {
    post: async (request) => {
      const { signal } = request;
      const verdict = verdicts.memo(request.url);
      if (!verdict.ok) {
        throw new CallError('forbidden_address', `its address is not allowed: ${verdict.reason}`);
      }
      if (signal.aborted) throw aborted();
      const exchange = startExchange(agent, verdict.url, request);
      const timer = setTimeout(() => {
        exchange.abort(new CallError('timeout', `no ${exchange.awaits()} within ${callTimeoutMs} ms`));
      }, callTimeoutMs);
      const stopWaiting = whenAborted(signal, () => exchange.abort(aborted()));
      let received: Received;
      try {
        received = await exchange.response;
      } finally {
        clearTimeout(timer);
        stopWaiting();
      }
      const { status, headers, bytes } = received;
      // undici frees the connection in the next turn of the event loop, so a call before that opens a second one.
      await nextTurn();
      if (isRedirect(status)) {
        request.onRedirect?.(headers.location?.toString());
        throw new CallError('redirect', `the response is a redirect (${status})`, { status });
      }
      const retryAfter = headers['retry-after']?.toString();
      const contentEncoding = headers['content-encoding']?.toString();
      return { status, retryAfter, contentEncoding, bytes, hasEnd: hasEnd(status, headers) };
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
  /** Rejects with a CallError. */
  response: Promise<Received>;
  /** What the request still waits for: the response, or memory for it. */
  awaits: () => string;
  /** Rejects with this error. Destroys the connection, or forgets a request that waits for one. */
  abort: (reason: CallError) => void;
};

/** The size of a paused connection's socket buffer. */
const SOCKET_BUFFER_BYTES = getDefaultHighWaterMark(false);

/** Does the body of a response have an end of its own (RFC 9112, section 6.3)? Otherwise its connection ends it. */
const hasEnd = (status: number, headers: Received['headers']): boolean =>
  [204, 304].includes(status) ||
  headers['content-length'] !== undefined ||
  /\bchunked\s*$/i.test(String(headers['transfer-encoding']));

/** 304 is none: a cache answers so, and it names no other address. */
const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * Collects the pieces of a body. One buffer that doubles receives them, because a list of pieces would keep a Buffer object
 * and a whole packet for each piece, even a piece of one byte.
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
  agent: SenderAgent,
  { origin, pathname, search }: URL,
  {
    accessToken,
    body: content,
    headers: own,
    maxBytes,
    maxWireBytes,
    admitLarge,
    traffic = { bytes: 0, pieces: 0 },
  }: PostRequest,
): Exchange => {
  const { promise: response, resolve, reject } = Promise.withResolvers<Received>();
  const body = createCollector();
  let status = 0;
  let headers: Received['headers'] = {};
  let interimResponses = 0;
  let isAborted = false;
  let started: Dispatcher.DispatchController | undefined;
  let connection: Connection | undefined;
  let waiting: AbortController | undefined;
  let admitted: Promise<void> | undefined;
  let hasArrived = false;

  /** Runs once, when the next call of this connection may begin. */
  const countBytes = (): void => {
    traffic.bytes += connection?.received() ?? 0;
    connection = undefined;
  };

  /**
   * Reads the remaining bytes now if they fit in the socket buffer, because undici drops buffered bytes when the server
   * closes a paused connection.
   */
  const waitForMemory = async (controller: Dispatcher.DispatchController): Promise<void> => {
    if (admitLarge === undefined) return;
    waiting = new AbortController();
    const rest = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) - body.length();
    if (rest > SOCKET_BUFFER_BYTES) controller.pause();
    try {
      await admitLarge(waiting.signal);
      controller.resume();
    } catch {
      controller.abort(aborted());
      reject(aborted());
    }
  };

  const request: SenderRequest = {
    origin,
    path: pathname + search,
    method: 'POST',
    headers: { ...HEADERS, ...own, ...(accessToken !== null && { authorization: `Bearer ${accessToken}` }) },
    body: content,
    served: {},
  };
  agent.dispatch(request, {
    onRequestStart: (controller) => {
      started = controller;
      countBytes();
      connection = request.served.by?.connection;
      connection?.begin(maxWireBytes);
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
        if (interimResponses > WIRE.interimResponses) throw tooManyInterim(WIRE.interimResponses);
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
      if (total > MEMORY.ordinaryBytes && before <= MEMORY.ordinaryBytes)
        admitted = waitForMemory(controller);
    },
    onResponseEnd: () => {
      countBytes();
      hasArrived = true;
      const received = { status, headers, bytes: body.collected() };
      if (admitted === undefined) resolve(received);
      else void admitted.then(() => resolve(received));
    },
    onResponseError: (_controller, error) => {
      const isResponding = status >= 200;
      const isRefused = !isResponding && connection?.hasEnded() === false && connection.received() > 0;
      countBytes();
      reject(exchangeError(error, { isResponding, isRefused }));
    },
  });

  return {
    response,
    awaits: () => {
      if (hasArrived) return 'memory for the response';
      const length = Number(headers['content-length']);
      const came = `${body.length()} of the ${length} bytes that content-length says`;
      return Number.isNaN(length) ? 'whole response' : `whole response (${came})`;
    },
    abort: (reason) => {
      reject(reason);
      isAborted = true;
      started?.abort(aborted());
      waiting?.abort();
    },
  };
};
