import http from 'node:http';
import https from 'node:https';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '#src/webhooks/bounds.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { aborted } from '#src/webhooks/faults.ts';
import { createBareSender } from '#src/webhooks/send-bare.ts';
import { createGotSender } from '#src/webhooks/send-got.ts';
import type { Answer, Outgoing, Sender } from '#src/webhooks/sender.ts';

/** Below the idle limit of most servers (Node and Apache: 5 s), so that they rarely close a socket we write to. */
const IDLE_SOCKET_MS = 4_000;

/** Addresses kept in memory: three for each of three thousand applications. */
const ALLOWED_MAX = 10_000;

export type ExchangeOptions = {
  egress: EgressPolicy;
  /** The whole call, a trickling body included. */
  callTimeoutMs?: number | undefined;
  /** Each of the name's look-up, the connection and the TLS handshake. */
  connectTimeoutMs?: number | undefined;
};

export type ExchangeRequest = Omit<Outgoing, 'url'> & { url: string };

export type Exchange = {
  /** By got: what is asked for once a day. */
  post(request: ExchangeRequest): Promise<Answer>;
  /**
   * The same by `node:http` alone: the pages and details of games, which are all calls but a few. got's stream
   * would take more than half of what a game costs a worker (docs/architecture.md, "What the code taught").
   */
  postBare(request: ExchangeRequest): Promise<Answer>;
  /** Destroys the agents and with them every idle connection. */
  close(): void;
};

/**
 * One POST and its bounded answer, over keep-alive connections that are made once.
 *
 * Both ways throw WebhookError alone: `forbidden_address`, `name_not_found`, `connect_failed`, `tls_failed`,
 * `timeout`, `connection_lost`, `redirect`, `aborted`. Any status but a redirect is an answer. A body past its
 * cap costs its connection.
 */
export const createExchange = (options: ExchangeOptions): Exchange => {
  const { egress, callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const agentOptions = { keepAlive: true, timeout: IDLE_SOCKET_MS, lookup: egress.lookup };
  const agents = {
    http: new http.Agent(agentOptions),
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it.
    https: new https.Agent({ ...agentOptions, rejectUnauthorized: true }),
  };
  const senderOptions = { agents, callTimeoutMs, connectTimeoutMs };

  // An application's address is read once, not once a game.
  const allowed = new Map<string, URL>();
  const admit = (text: string): URL => {
    const known = allowed.get(text);
    if (known !== undefined) return known;
    const verdict = egress.checkUrl(text);
    if (!verdict.ok) throw new WebhookError('forbidden_address', `its address is refused: ${verdict.reason}`);
    if (allowed.size >= ALLOWED_MAX) allowed.clear();
    allowed.set(text, verdict.url);
    return verdict.url;
  };

  const postBy =
    (send: Sender) =>
    async (request: ExchangeRequest): Promise<Answer> => {
      const url = admit(request.url);
      if (request.signal.aborted) throw aborted();
      return send({ ...request, url });
    };

  return {
    post: postBy(createGotSender(senderOptions)),
    postBare: postBy(createBareSender(senderOptions)),
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};
