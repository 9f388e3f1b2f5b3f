import type { RequestListener } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { EXAMPLE_DETAIL } from '#src/contract/application.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { type CallError, isCallError } from '#src/egress/errors.ts';
import type { HttpPostOptions } from '#src/egress/post.ts';
import type { AnswerMemory } from '#src/webhooks/answer-memory.ts';
import { createWebhookClient, type WebhookClient, type WebhookTarget } from '#src/webhooks/client.ts';
import type { Cost } from '#src/webhooks/pace.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';

export const TOKEN = 'token-5f1c0c9ae2b74d0e';

/** Loopback over plain http, as in development. */
export const loopback = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8', '::1'] });

/** An application whose three webhooks are one address. */
export const targetAt = (url: string): WebhookTarget => ({
  application_id: 'acme',
  query_game_list_webhook: url,
  query_game_detail_webhook: url,
  query_cp_kyc_webhook: url,
  accessToken: TOKEN,
});

/** A client that is closed with its test. */
export const aClient = (
  options: Partial<HttpPostOptions> & { memory?: AnswerMemory } = {},
): WebhookClient => {
  const client = createWebhookClient({ egress: loopback, ...options });
  onTestFinished(() => client.close());
  return client;
};

/** A client that is closed with its test, and what each of its calls cost. */
export const meteredClient = (egress = loopback, callTimeoutMs?: number, connectTimeoutMs?: number) => {
  const costs: Cost[] = [];
  const pace = { wait: async () => {}, charge: (_id: string, cost: Cost) => void costs.push(cost) };
  const client = createWebhookClient({ egress, pace, callTimeoutMs, connectTimeoutMs });
  onTestFinished(() => client.close());
  return { client, costs };
};

/** A server that is closed with its test. */
export const aServer = async (handler: RequestListener): Promise<RawServer> => {
  const server = await startRawServer(handler);
  onTestFinished(server.close);
  return server;
};

/** A server that responds to every request with this status, body and headers. */
export const respondWith = (
  body: string | Uint8Array,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Promise<RawServer> =>
  aServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });

export const envelope = (data: unknown): string => JSON.stringify({ ret_code: 0, ret_msg: 'success', data });

/** The CallError with which a call rejects; any other result fails the test. */
export const errorOf = async (call: Promise<unknown>): Promise<CallError> => {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && isCallError(outcome.error)) return outcome.error;
  throw new Error('the call did not reject with a CallError', { cause: outcome });
};

export const live = (): AbortSignal => new AbortController().signal;

export const detail = (gameId = 'g1') => ({ ...EXAMPLE_DETAIL, game_id: gameId });

/** Queries the detail of `g1`. */
export const askDetail = (client: WebhookClient, url: string, signal = live()) =>
  client.queryGameDetail(targetAt(url), { game_id: 'g1' }, signal);

/** Has this promise resolved, once everything that is due has run? */
export const isDone = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await nextTurn();
  return done;
};
