import { setImmediate as nextTurn } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '#src/rules/budgets.ts';
import { createAgent } from '#src/webhooks/agent.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { aborted, WebhookError } from '#src/webhooks/errors.ts';
import { hasEnd, isRedirect, type PostRequest, startExchange } from '#src/webhooks/exchange.ts';

export type PostResponse = {
  status: number;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body before decompression; null if it is larger than `maxBytes`. */
  bytes: Buffer | null;
  /** False: the body ended with its connection, so nothing shows whether it was cut. */
  hasEnd: boolean;
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
          const what = exchange.hasArrived() ? 'memory for the' : 'whole';
          throw new WebhookError('timeout', `no ${what} response within ${callTimeoutMs} ms`);
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
      return { status, retryAfter, contentEncoding, bytes, hasEnd: hasEnd(status, headers) };
    },
    close: () => void agent.destroy(),
  };
};
