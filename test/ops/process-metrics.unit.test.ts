import { afterAll, beforeAll, expect, test } from 'vitest';
import { RUN_OUTCOMES } from '#src/contract/words.ts';
import { createProcessMetrics } from '#src/metrics/process-metrics.ts';
import { observeWebhooks } from '#src/metrics/webhook-calls.ts';
import { pictureRequested } from '#src/pictures/picture-requested.ts';
import { pictureStoreFailed } from '#src/pictures/picture-store-failed.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { loopback, targetAt } from '#test/support/webhooks.ts';

const client = observeWebhooks(createWebhookClient({ egress: loopback }));
const list = JSON.stringify({ ret_code: 0, ret_msg: 'success', data: { total: 0, list: [] } });
let healthy: RawServer;
let failing: RawServer;

beforeAll(async () => {
  healthy = await startRawServer((_request, response) => response.end(list));
  failing = await startRawServer((_request, response) => response.writeHead(503).end('planted-body-77'));
});
afterAll(async () => {
  client.close();
  await healthy.close();
  await failing.close();
});

const pull = (applicationId: string, server = healthy) =>
  client
    .queryGameList(
      { ...targetAt(server.url), application_id: applicationId, accessToken: 'planted-token-0b7f' },
      { page_num: 1, page_size: 100 },
      new AbortController().signal,
    )
    .catch(() => undefined);

test('a call is counted once, by its outcome, under the name of its application', async () => {
  using metrics = createProcessMetrics('test');
  await pull('acme');
  await pull('acme', failing);
  const text = await metrics.registry.metrics();
  for (const outcome of ['ok', 'http_status']) {
    expect(text).toContain(
      `catalogue_webhook_calls_total{application_id="acme",operation="query_game_list",outcome="${outcome}",process="test"} 1`,
    );
  }
  expect(text).not.toContain('planted');
});

test('in a large fleet the number of series is bounded, and failing applications have their own', async () => {
  using metrics = createProcessMetrics('test');
  for (let n = 0; n < 150; n += 1) await pull(`app-${n}`);
  await pull('in-trouble', failing);
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
    expect(text).toContain(`catalogue_runs_total{outcome="${outcome}",process="test"} 0\n`);
});

test('requests for pictures and the games that they return to review are counted', async () => {
  using metrics = createProcessMetrics('test');
  pictureRequested.publish({ outcome: 'not_found', purpose: 'look', driftedGames: 0 });
  pictureRequested.publish({ outcome: 'shown', purpose: 'check', driftedGames: 2 });
  const text = await metrics.registry.metrics();
  for (const line of [
    'catalogue_pictures_requested_total{outcome="not_found",process="test"} 1',
    'catalogue_pictures_rechecked_total{outcome="shown",process="test"} 1',
    'catalogue_pictures_rechecked_total{outcome="unchanged",process="test"} 0',
    'catalogue_pictures_drifted_total{process="test"} 2',
  ])
    expect(text).toContain(`${line}\n`);
});

test('failures of the store of pictures are counted from 0, by code', async () => {
  using metrics = createProcessMetrics('test');
  pictureStoreFailed.publish({ code: 'full' });
  const text = await metrics.registry.metrics();
  expect(text).toContain('catalogue_picture_store_failures_total{code="full",process="test"} 1\n');
  expect(text).toContain('catalogue_picture_store_failures_total{code="unreachable",process="test"} 0\n');
});

test('metrics that are disposed of count no more', async () => {
  const metrics = createProcessMetrics('test');
  metrics[Symbol.dispose]();
  await pull('acme', failing);
  expect(await metrics.registry.metrics()).not.toContain('acme');
});
