import { isIP, type LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { createEgressPolicy, type EgressOptions } from '#src/egress/egress.ts';
import { aClient, aServer, errorOf, targetAt } from '#test/support/webhooks.ts';

const NAMES: Record<string, string[]> = {
  'good.example': ['93.184.215.14', '2606:2800:21f:cb07::1'],
  'inside.example': ['10.0.0.7'],
  'scoped.example': ['fe80::1%eth0'],
  'mixed.example': ['93.184.215.14', '::ffff:127.0.0.1'],
};

/** A policy over the names above, which are looked up as `dns.lookup` does: without addresses after an error. */
const policy = (options: Partial<EgressOptions> = {}) =>
  createEgressPolicy({
    allowHttp: false,
    allowNetworks: [],
    resolve: (hostname, { all }, done) => {
      const found = NAMES[hostname]?.map((address) => ({ address, family: isIP(address) }));
      const error = Object.assign(new Error('not found'), { code: all ? 'ENOTFOUND' : 'ONE_ADDRESS' });
      if (found === undefined || !all) done(error, undefined as never);
      else done(null, found);
    },
    ...options,
  });

/** What a connection gets from the policy's `lookup`. */
const lookUp = (hostname: string, all: boolean) =>
  new Promise<Parameters<Parameters<LookupFunction>[2]>>((found) => {
    policy().lookup(hostname, { all }, (...results) => found(results));
  });

test('a connection gets the allowed addresses of a name, or the first of them', async () => {
  expect(await lookUp('mixed.example', true)).toEqual([null, [{ address: '93.184.215.14', family: 4 }]]);
  expect(await lookUp('good.example', true)).toMatchObject([null, { length: 2 }]);
  expect(await lookUp('good.example', false)).toEqual([null, '93.184.215.14', 4]);
});

test.each([true, false])('a connection gets no address of a forbidden name, all: %s', async (all) => {
  const [error, addresses] = await lookUp('inside.example', all);
  expect(error).toMatchObject({
    code: 'ERR_NO_ALLOWED_ADDRESS',
    message: 'no address of inside.example is allowed',
  });
  expect(addresses).toEqual([]);
});

test('a connection gets no address with a zone: it is on a network of this machine', async () => {
  expect(await lookUp('scoped.example', true)).toMatchObject([{ code: 'ERR_NO_ALLOWED_ADDRESS' }, []]);
});

test('a connection gets the error of a name that does not resolve', async () => {
  const [error, addresses] = await lookUp('gone.example', true);
  expect(error).toMatchObject({ code: 'ENOTFOUND' });
  expect(addresses).toEqual([]);
});

test('registration warns of names that resolve to nothing, or to what is never dialled', async () => {
  const { explain } = policy();
  expect(await explain('https://good.example/')).toEqual([]);
  expect(await explain('https://8.8.8.8/')).toEqual([]);
  expect(await explain('https://inside.example./')).toEqual([
    'inside.example resolves to 10.0.0.7, which is refused: it is not public, or is denied; WEBHOOK_ALLOW_NETWORKS opens networks for development',
  ]);
  expect(await explain('https://mixed.example/')).toEqual([expect.stringContaining('::ffff:127.0.0.1')]);
  expect(await explain('https://gone.example/')).toEqual([
    'gone.example does not resolve to any address from here',
  ]);
  expect(await explain('http://good.example/')).toEqual([
    'this address is refused: it is plain http: use https, or set WEBHOOK_ALLOW_HTTP=true for development (and WEBHOOK_ALLOW_NETWORKS for a private address)',
  ]);
});

test('registration looks no name up when a proxy does', async () => {
  const { explain } = policy({ proxy: 'http://proxy.example:3128' });
  expect(await explain('https://gone.example/')).toEqual([]);
  expect(await explain('https://10.0.0.7/')).toEqual([expect.stringContaining('this address is refused')]);
});

test('a refused address is named with the setting that would open it', () => {
  const reasonOf = (url: string) => policy().checkUrl(url);
  const hint = 'WEBHOOK_ALLOW_NETWORKS opens networks for development';
  expect(reasonOf('https://[::1]/')).toEqual({
    ok: false,
    reason: `::1 is not a public address, or is denied; ${hint}`,
  });
  expect(reasonOf('https://app.localhost./')).toEqual({
    ok: false,
    reason: `app.localhost is this machine; ${hint}`,
  });
});

test('a call that ends during the look-up sends no request when the address is found', async () => {
  const requests: string[] = [];
  const server = await aServer((request, response) => {
    requests.push(request.url ?? '');
    response.end();
  });
  const found = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const client = aClient({
    egress: createEgressPolicy({
      allowHttp: true,
      allowNetworks: ['127.0.0.0/8'],
      resolve: async (_hostname, _options, done) => {
        asked.resolve();
        await found.promise;
        done(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    }),
  });
  const url = server.url.replace('127.0.0.1', 'slow.example');
  const ended = new AbortController();
  const call = errorOf(client.queryGameDetail(targetAt(url), { game_id: 'g1' }, ended.signal));
  await asked.promise;
  ended.abort();
  expect((await call).code).toBe('aborted');
  found.resolve();
  await expect.poll(server.connections).toBe(1);
  await expect.poll(server.openConnections).toBe(0);
  expect(requests).toEqual([]);
});
