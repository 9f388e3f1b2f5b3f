import { onTestFinished } from 'vitest';
import { type CaseResult, checkApplication } from '#src/check/check-application.ts';
import type { CheckTarget, SessionOptions } from '#src/check/session.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import type { AddressSigner } from '#src/sample-application/signer.ts';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { webhooksAt } from '#test/support/factories.ts';
import { live, loopback, TOKEN } from '#test/support/webhooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test that spoils responses takes them apart at will
export type Json = any;
type Reply = { status: number; json: Json };
/** What a broken application does to a response of the sample's. Returns text to send that instead. */
export type Spoil = (
  call: { operation: string; body: Json; bearer: string },
  response: Reply,
) => string | undefined | Promise<undefined>;

export const check = async (
  url: string,
  accessToken = TOKEN,
  {
    volatile = [],
    every_ms = 900_000,
    repeatMs = 0,
    callTimeoutMs,
    concurrency = 10,
  }: Partial<Omit<SessionOptions, 'signal'> & Pick<CheckTarget, 'every_ms' | 'concurrency'>> & {
    volatile?: string[];
  } = {},
): Promise<CaseResult[]> => {
  const hooks = webhooksAt(url);
  const target = {
    application_id: 'acme',
    query_game_list_webhook: hooks.query_game_list_webhook,
    query_game_detail_webhook: hooks.query_game_detail_webhook,
    query_cp_kyc_webhook: hooks.query_cp_kyc_webhook,
    accessToken,
    rule: identityRule(volatile),
    every_ms,
    concurrency,
  };
  return checkApplication(target, loopback, { onResult: () => {}, signal: live(), repeatMs, callTimeoutMs });
};

export const startSample = async (games = 30, signer?: AddressSigner) => {
  const sample = await startSampleApplication({ accessToken: TOKEN, games, seed: 'check', signer });
  onTestFinished(() => sample.close());
  return sample;
};

/** The sample application behind something that spoils its responses. */
export const startBroken = async (spoil: Spoil, games?: number) => {
  const sample = await startSample(games);
  const server = await startRawServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const authorization = request.headers.authorization ?? '';
    const { status, json } = await fetch(new URL(request.url ?? '', sample.url), {
      method: 'POST',
      headers: { authorization },
      body,
    }).then(async (sent) => ({ status: sent.status, json: await sent.json() }));
    const reply: Reply = { status, json };
    const operation = request.url?.split('/').at(-1) ?? '';
    const text = await spoil({ operation, body: JSON.parse(body), bearer: authorization }, reply);
    response.writeHead(reply.status).end(text ?? JSON.stringify(reply.json));
  });
  onTestFinished(server.close);
  return { sample, url: server.url };
};

export const withOutcome = (results: CaseResult[], outcome: CaseResult['outcome']) =>
  results.filter((result) => result.outcome === outcome).map(({ name }) => name);
