import type { LookupAddress } from 'node:dns';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { aClient, askDetail, detail, envelope, errorOf, respondWith } from '#test/support/webhooks.ts';

const require = createRequire(import.meta.url);
/** Published lists that none of us wrote: addresses that must not be called, and some that may be. */
const bad: string[] = require('ssrfcheck/tests/data/should-not-pass.js');
const good: string[] = require('ssrfcheck/tests/data/should-pass.js');
const publicAddresses: string[] = require('ssrfcheck/tests/data/valid-ips-list');

/** Whatever name is looked up, it is this machine: what a hostile zone would answer. */
const loopback: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
const policy = createEgressPolicy({
  allowHttp: true,
  allowNetworks: [],
  resolve: (_name, _options, done) => done(null, loopback),
});

test('every bad address of the list is refused before a byte is sent', async () => {
  const server = await respondWith(envelope(detail()));
  const client = aClient({ egress: policy });
  expect(bad.length).toBeGreaterThan(200);
  for (const url of [...bad, server.url, `http://webhooks.example:${server.port}/`]) {
    expect([url, (await errorOf(askDetail(client, url))).code]).toEqual([url, 'forbidden_address']);
  }
  expect(server.connections()).toBe(0);
});

test('registering any of them earns a warning that explains', async () => {
  for (const url of bad) {
    const warnings = await policy.explain(url);
    expect([url, warnings.length]).not.toEqual([url, 0]);
    for (const warning of warnings) expect(warning).toMatch(/is refused: ./);
  }
});

/** We refuse more than the list does: what is no whole URL, and IPv6 forms that only carry an IPv4 address. */
const isPlain = (url: string): boolean =>
  /^https?:\/\//.test(url) && !/^https?:\/\/\[(64:ff9b|::[^f]|::ffff:0:)/.test(url);

test('public addresses of the list are open', () => {
  const open = [...good.filter(isPlain), ...publicAddresses.map((address) => `https://${address}/`)];
  expect(open.length).toBeGreaterThan(90);
  for (const url of open) expect([url, policy.checkUrl(url).ok]).toEqual([url, true]);
});
