import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { aServer, detail, envelope, respondWith } from '#test/support/webhooks.ts';

test('proxies of the environment are not used', async () => {
  const proxy = await aServer((_, response) => response.end(envelope(detail('proxied'))));
  const server = await respondWith(envelope(detail()));
  const script = `
    import { createWebhookClient } from '#src/webhooks/client.ts';
    import { createEgressPolicy } from '#src/egress/egress.ts';
    const client = createWebhookClient({ egress: createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.1'] }) });
    const url = process.argv[1];
    const target = { application_id: 'a', query_game_list_webhook: url, query_game_detail_webhook: url, query_cp_kyc_webhook: url, accessToken: 't' };
    console.log((await client.queryGameDetail(target, { game_id: 'g1' }, new AbortController().signal)).game_name);
    client.close();`;
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
    ALL_PROXY: proxy.url,
  };
  const node = ['--input-type=module-typescript', '--eval', script, server.url];
  const { stdout } = await promisify(execFile)(process.execPath, node, { env });
  expect(stdout.trim()).toBe(detail().game_name);
  expect(proxy.connections()).toBe(0);
});
