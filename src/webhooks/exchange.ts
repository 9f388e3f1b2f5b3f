import http from 'node:http';
import https from 'node:https';
import got, { type Response } from 'got';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '#src/webhooks/bounds.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { toWebhookError } from '#src/webhooks/faults.ts';
import { ACCEPT_ENCODING, collect } from '#src/webhooks/read-body.ts';

/** Below the idle limit of most servers (Node and Apache: 5 s), so that they rarely close a socket we write to. */
const IDLE_SOCKET_MS = 4_000;

export type ExchangeOptions = {
  egress: EgressPolicy;
  /** The whole call, a trickling body included. */
  callTimeoutMs?: number | undefined;
  /** Each of the name's look-up, the connection and the TLS handshake. */
  connectTimeoutMs?: number | undefined;
};

/** What came back, as it came. */
export type Answer = {
  status: number;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body before decompression; null when it is larger than the cap. */
  bytes: Buffer | null;
};

export type ExchangeRequest = {
  url: string;
  /** null: no Authorization header at all (`app check` asks what happens then). */
  accessToken: string | null;
  /** The exact body, as JSON text. */
  body: string;
  maxBytes: number;
  signal: AbortSignal;
};

export type Exchange = {
  post(request: ExchangeRequest): Promise<Answer>;
  /** Destroys the agents and with them every idle connection. */
  close(): void;
};

/**
 * One POST and its bounded answer, over keep-alive connections that are made once.
 *
 * `post` throws WebhookError alone: `forbidden_address`, `name_not_found`, `connect_failed`, `tls_failed`,
 * `timeout`, `connection_lost`, `redirect`, `aborted`. Any status but a redirect is an answer. A body past its
 * cap costs its connection.
 */
export const createExchange = (options: ExchangeOptions): Exchange => {
  const { egress, callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const agentOptions = { keepAlive: true, timeout: IDLE_SOCKET_MS, lookup: egress.lookup };
  const agent = {
    http: new http.Agent(agentOptions),
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it.
    https: new https.Agent({ ...agentOptions, rejectUnauthorized: true }),
  };
  const client = got.extend({
    agent,
    // By itself got would hand node some forty options, most of them undefined, which are copied three times.
    request: (url, { method, headers, agent }, callback) =>
      (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent }, callback),
    method: 'POST',
    // got would undo as many layers as the header names: read-body.ts undoes one, to the cap.
    decompress: false,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      request: callTimeoutMs,
    },
    headers: {
      'user-agent': 'game-catalogue',
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      'content-type': 'application/json; charset=utf-8',
    },
  });

  const post = async ({ url, accessToken, body, maxBytes, signal }: ExchangeRequest): Promise<Answer> => {
    const verdict = egress.checkUrl(url);
    if (!verdict.ok) throw new WebhookError('forbidden_address', `its address is refused: ${verdict.reason}`);
    const secure = verdict.url.protocol === 'https:';
    const aborted = () => new WebhookError('aborted', 'the call was ended from our side');
    if (signal.aborted) throw aborted();

    return new Promise<Answer>((resolve, reject) => {
      const stream = client.stream(verdict.url, {
        body,
        headers: accessToken === null ? {} : { authorization: `Bearer ${accessToken}` },
      });
      // Not got's `signal`: it listens anew at every step of a call, which costs a fifth of the call.
      const abort = () => stream.destroy(aborted());
      signal.addEventListener('abort', abort);
      const fail = (error: WebhookError): void => {
        signal.removeEventListener('abort', abort);
        reject(error);
      };
      let answered = false;
      stream.once('response', ({ statusCode: status, headers }: Response) => {
        answered = true;
        if (status >= 300 && status < 400) {
          stream.destroy();
          fail(
            new WebhookError('redirect', `the answer is a redirect (${status}): never followed`, { status }),
          );
          return;
        }
        collect(stream, maxBytes, (bytes) => {
          signal.removeEventListener('abort', abort);
          if (bytes === null) stream.destroy();
          resolve({
            status,
            retryAfter: headers['retry-after'],
            contentEncoding: headers['content-encoding'],
            bytes,
          });
        });
      });
      stream.on('error', (error) => {
        fail(signal.aborted ? aborted() : toWebhookError(error, secure, answered));
      });
    });
  };

  const close = (): void => {
    agent.http.destroy();
    agent.https.destroy();
  };

  return { post, close };
};
