import nock from 'nock';
import { afterEach, expect, test } from 'vitest';
import { RUN_OUTCOMES } from '#src/contract/words.ts';
import { createProcessMetrics } from '#src/metrics/process-metrics.ts';
import { observeWebhooks } from '#src/metrics/webhook-calls.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { createEgressPolicy } from '#src/webhooks/egress.ts';

afterEach(() => nock.cleanAll());

const client = observeWebhooks(
  createWebhookClient({ egress: createEgressPolicy({ allowHttp: false, allowNetworks: [] }) }),
);
const target = (applicationId: string) => ({
  applicationId,
  queryGameListWebhook: 'https://acme.example/list',
  queryGameDetailWebhook: 'https://acme.example/detail',
  queryCpKycWebhook: 'https://acme.example/kyc',
  accessToken: 'planted-token-0b7f',
});
const pull = (applicationId: string) =>
  client
    .queryGameList(target(applicationId), { page_num: 1, page_size: 100 }, new AbortController().signal)
    .catch(() => undefined);

test('a call is counted once, by its outcome, under the name of its application', async () => {
  using metrics = createProcessMetrics('test');
  const list = { ret_code: 0, ret_msg: 'success', data: { total: 0, list: [] } };
  nock('https://acme.example').post('/list').reply(200, list).post('/list').reply(503, 'planted-body-77');
  await pull('acme');
  await pull('acme');
  const text = await metrics.registry.metrics();
  for (const outcome of ['ok', 'http_status']) {
    expect(text).toContain(
      `catalogue_webhook_calls_total{application_id="acme",operation="query_game_list",outcome="${outcome}",role="test"} 1`,
    );
  }
  expect(text).not.toContain('planted');
});

test('in a large fleet the series stay bounded, and those that fail are the ones named', async () => {
  using metrics = createProcessMetrics('test');
  nock('https://acme.example')
    .persist()
    .post('/list')
    .reply(200, { ret_code: 0, ret_msg: 'success', data: { total: 0, list: [] } });
  for (let n = 0; n < 150; n += 1) await pull(`app-${n}`);
  nock.cleanAll();
  nock('https://acme.example').post('/list').reply(503);
  await pull('in-trouble');
  const text = await metrics.registry.metrics();
  const named = new Set([...text.matchAll(/application_id="([^"]+)"/g)].map(([, id]) => id));
  expect(named.size).toBe(101);
  expect(named).toContain('in-trouble');
  expect(named).toContain('_others');
});

test('every outcome that a run can have is counted from 0, before any run ended', async () => {
  using metrics = createProcessMetrics('test');
  const text = await metrics.registry.metrics();
  for (const outcome of RUN_OUTCOMES)
    expect(text).toContain(`catalogue_runs_total{outcome="${outcome}",role="test"} 0\n`);
});

test('what has ended counting counts no more', async () => {
  const metrics = createProcessMetrics('test');
  metrics[Symbol.dispose]();
  nock('https://acme.example').post('/list').reply(503);
  await pull('acme');
  expect(await metrics.registry.metrics()).not.toContain('acme');
});
