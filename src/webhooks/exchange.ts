import type { Dispatcher } from 'undici';
import { MEMORY, WIRE } from '#src/rules/budgets.ts';
import type { Admission } from '#src/webhooks/answer-memory.ts';
import { aborted } from '#src/webhooks/errors.ts';
import { type Traffic, tooManyInterimResponses } from '#src/webhooks/traffic.ts';
import { exchangeError } from '#src/webhooks/transport-errors.ts';

export type Response = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body before decompression; null if it is larger than `maxBytes`, and of a redirect, whose body is not read. */
  bytes: Buffer | null;
};

export type Exchange = {
  /** Rejects with a WebhookError. */
  response: Promise<Response>;
  /** Destroys the connection, or forgets a request that waits for one. */
  abort: () => void;
};

export type ExchangeLimits = {
  /** At most this many bytes of the body are read. */
  maxBytes: number;
  /** Resolves when a body larger than `MEMORY.ordinaryBytes` may be read. */
  admitLarge: Admission['admit'] | undefined;
  /** Counts what arrives, also of an exchange that fails. */
  traffic: Traffic;
};

export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

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
 * Sends one request and collects the whole response. undici's own `request` makes a stream of each body, which costs
 * more CPU than everything else of a call in this process.
 */
export const startExchange = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { maxBytes, admitLarge, traffic }: ExchangeLimits,
): Exchange => {
  const { promise: response, resolve, reject } = Promise.withResolvers<Response>();
  const body = createCollector();
  let status = 0;
  let headers: Response['headers'] = {};
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
        if (interimResponses > WIRE.interimResponses) throw tooManyInterimResponses();
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
