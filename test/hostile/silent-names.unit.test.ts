import { expect, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { type Resolve, shareLookups } from '#src/egress/share-lookups.ts';
import { aClient, askDetail, envelope, errorOf, respondWith } from '#test/support/webhooks.ts';

/** A system whose look-ups of `*.silent.example` end when the test says so. Every other name is this machine. */
const startNames = () => {
  const started: string[] = [];
  let running: (() => void)[] = [];
  const resolve: Resolve = (hostname, _options, found) => {
    if (!hostname.endsWith('.silent.example')) return found(null, [{ address: '127.0.0.1', family: 4 }]);
    started.push(hostname);
    running.push(() => found(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' }), []));
  };
  const giveUp = () => {
    const ended = running;
    running = [];
    for (const end of ended) end();
    return ended.length;
  };
  return { resolve, started, running: () => running.length, giveUp };
};

const clientWith = (resolve: Resolve) =>
  aClient({ egress: createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'], resolve }) });

test('calls of one name share its look-up, and each gets its result', async () => {
  const names = startNames();
  const client = clientWith(names.resolve);
  const calls = Array.from({ length: 8 }, () => errorOf(askDetail(client, 'http://one.silent.example/')));
  await expect.poll(names.running).toBe(1);
  names.giveUp();
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  expect(codes).toEqual(Array(8).fill('name_not_found'));
  expect(names.started).toEqual(['one.silent.example']);
  // The next call looks the name up again.
  const next = errorOf(askDetail(client, 'http://one.silent.example/'));
  await expect.poll(names.giveUp).toBe(1);
  expect((await next).code).toBe('name_not_found');
});

test('names whose servers are silent leave places for the names of others', async () => {
  const server = await respondWith(envelope(null));
  const healthy = server.url.replace('127.0.0.1', 'healthy.example');
  const silent = Array.from({ length: 10 }, (_, index) => `http://app${index}.silent.example/`);
  const names = startNames();
  const client = clientWith(shareLookups(names.resolve, { ordinary: 4, slow: 2, slowMs: 0 }));
  const callAll = () => silent.map((url) => errorOf(askDetail(client, url)));

  const first = callAll();
  await expect.poll(names.running).toBe(4);
  while (names.started.length < silent.length || names.running() > 0)
    await expect.poll(names.giveUp).not.toBe(0);
  await Promise.all(first);

  const second = callAll();
  await expect.poll(names.running).toBe(2);
  expect(await askDetail(client, healthy)).toBeNull();
  while (names.started.length < 2 * silent.length || names.running() > 0)
    await expect.poll(names.giveUp).not.toBe(0);
  for (const error of await Promise.all(second)) expect(error.retryable).toBe(true);
});
