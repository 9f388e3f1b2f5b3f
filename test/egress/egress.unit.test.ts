import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { UsageError } from '#src/errors.ts';
import { FORBIDDEN_HOSTS, PUBLIC_HOSTS } from '#test/egress/hosts.ts';
import { aClient, aServer, askDetail, detail, envelope, errorOf } from '#test/support/webhooks.ts';

const strict = createEgressPolicy({ allowHttp: true, allowNetworks: [] });

test.each(FORBIDDEN_HOSTS)('the host %s is refused from its text alone', (host) => {
  expect(strict.checkUrl(`http://${host}/hook`)).toMatchObject({ ok: false });
});

test.each(PUBLIC_HOSTS)('the host %s is let through', (host) => {
  expect(strict.checkUrl(`https://${host}/hook`)).toMatchObject({ ok: true });
});

test.each([
  ['file:///etc/passwd', 'scheme'],
  ['ftp://shop.example/', 'scheme'],
  ['gopher://shop.example/', 'scheme'],
  ['data:application/json,{}', 'scheme'],
  ['unix:/var/run/docker.sock', 'scheme'],
  ['https://user@shop.example/', 'credentials'],
  ['https://user:pass@shop.example/', 'credentials'],
  ['https://:pass@shop.example/', 'credentials'],
  ['https://shop.example@127.0.0.1/', 'credentials'],
  ['https://127.0.0.1\\@shop.example/', 'not a public address'],
  ['https://127.0.0.1#@shop.example/', 'not a public address'],
  ['https:\t//127.0.0.1/', 'not a public address'],
  ['https://127.0.0.1:443\n/', 'not a public address'],
  ['https:127.0.0.1', 'not a public address'],
  ['//shop.example/', 'not a URL'],
  ['https://[fe80::1%25eth0]/', 'not a URL'],
  ['https://256.256.256.256/', 'not a URL'],
  ['https://1.2.3.4.5/', 'not a URL'],
  ['https://sh op.example/', 'not a URL'],
  ['https://', 'not a URL'],
  ['', 'not a URL'],
])('%j is refused: %s', (url, reason) => {
  expect(strict.checkUrl(url)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
});

test('plain http is refused unless it is allowed', () => {
  const policy = createEgressPolicy({ allowHttp: false, allowNetworks: [] });
  expect(policy.checkUrl('http://shop.example/')).toMatchObject({ reason: expect.stringContaining('http') });
  expect(policy.checkUrl('https://shop.example/').ok).toBe(true);
});

test('allowed networks open what they name and nothing beside it', () => {
  const policy = createEgressPolicy({
    allowHttp: true,
    allowNetworks: ['127.0.0.0/8', '10.1.0.0/16', 'fd00::/8'],
  });
  const open = (host: string): boolean => policy.checkUrl(`http://${host}/`).ok;
  expect(
    ['127.0.0.1', '127.9', '[::ffff:127.0.0.1]', '10.1.2.3', '[fd12::1]', 'localhost'].map(open),
  ).not.toContain(false);
  expect(
    ['10.2.0.1', '[::1]', '169.254.169.254', '[fc00::1]', '0.0.0.0', '[::127.0.0.1]'].map(open),
  ).not.toContain(true);
  expect(
    createEgressPolicy({ allowHttp: true, allowNetworks: ['::1'] }).checkUrl('http://localhost/').ok,
  ).toBe(true);
});

test.each([
  '10.0.0.0/33',
  '10.0.0/8',
  '::/129',
  'loopback',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '',
  'fe80::1%eth0/64',
])('the network "%s" is refused when the policy is made', (network) => {
  expect(() => createEgressPolicy({ allowHttp: true, allowNetworks: [network] })).toThrow(
    new UsageError(`"${network}" is not a network: use a CIDR such as 127.0.0.0/8`),
  );
});

/** A client whose names resolve to these addresses: one list for each look-up, the last one for the rest. */
const resolving = (allowNetworks: string[], ...lookups: string[][]) => {
  let asked = 0;
  const egress = createEgressPolicy({
    allowHttp: true,
    allowNetworks,
    resolve: (_hostname, _options, done) => {
      const addresses = lookups[Math.min(asked, lookups.length - 1)] ?? [];
      asked += 1;
      done(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    },
  });
  return aClient({ egress });
};

const aGoodServer = () =>
  aServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { connection: 'close' }).end(envelope(detail())));
  });

test.each(['http', 'https'])('over %s a name that resolves to loopback is not dialled', async (scheme) => {
  const server = await aGoodServer();
  const error = await errorOf(
    askDetail(resolving([], ['127.0.0.1', '::1']), `${scheme}://shop.example:${server.port}/`),
  );
  expect(error.code).toBe('forbidden_address');
  expect(server.connections()).toBe(0);
});

test('the address of a local socket is a strange name and nothing more', async () => {
  const error = await errorOf(
    askDetail(resolving([], ['10.0.0.1']), 'http://unix:/var/run/docker.sock:/hook'),
  );
  expect(error.transport).toBe(true);
});

test.each([
  ['loopback', ['127.0.0.1']],
  ['loopback in its mapped form', ['::ffff:127.0.0.1']],
  ['two forbidden addresses', ['10.0.0.1', '127.0.0.1']],
  ['a metadata address', ['169.254.169.254']],
  ['a metadata address behind NAT64', ['64:ff9b::a9fe:a9fe']],
])('a name that resolves to %s is not dialled', async (_, addresses) => {
  const server = await aGoodServer();
  const url = `http://shop.example:${server.port}/`;
  const error = await errorOf(askDetail(resolving([], addresses), url));
  expect(error).toMatchObject({ code: 'forbidden_address', retryable: false, transport: true });
  expect(server.connections()).toBe(0);
});

test('a name with allowed and forbidden addresses connects to the allowed ones only', async () => {
  const server = await aGoodServer();
  const client = resolving(['127.0.0.1'], ['169.254.169.254', '127.0.0.2', '127.0.0.1']);
  expect(await askDetail(client, `http://shop.example:${server.port}/`)).toEqual(detail());
});

test('a name that resolves to another address the second time gains nothing', async () => {
  const server = await aGoodServer();
  const client = resolving(['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']);
  const url = `http://shop.example:${server.port}/`;
  expect(await askDetail(client, url)).toEqual(detail());
  expect((await errorOf(askDetail(client, url))).code).toBe('forbidden_address');
  expect(server.connections()).toBe(1);
});

test.each(FORBIDDEN_HOSTS)('nothing is dialled for %s', async (host) => {
  const scheme = host.length % 2 === 0 ? 'http' : 'https';
  const error = await errorOf(askDetail(aClient({ egress: strict }), `${scheme}://${host}:9/`));
  expect(error.code).toBe('forbidden_address');
});

test('of a name of thousands of addresses a call tries a few of each family', async () => {
  const many = ['127.0.0.', 'fd00::'].flatMap((network, index) =>
    Array.from({ length: 200 }, (_, host) => ({
      address: `${network}${host + 1}`,
      family: index === 0 ? 4 : 6,
    })),
  );
  const policy = createEgressPolicy({
    allowHttp: true,
    allowNetworks: ['127.0.0.0/8', 'fd00::/8'],
    resolve: (_name, _options, found) => found(null, many),
  });
  const tried = await new Promise<LookupAddress[]>((done) => {
    policy.lookup('many.example', { all: true }, (_error, addresses) => done(addresses as LookupAddress[]));
  });
  expect(tried).toEqual([...many.slice(0, 8), ...many.slice(200, 208)]);
});

test('localhost, by name and in both families, is reached when it is allowed', async () => {
  const server = await aGoodServer();
  const client = aClient();
  for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]']) {
    expect(await askDetail(client, `http://${host}:${server.port}/`)).toEqual(detail());
  }
});

test('denied networks win over public and allowed ones, in every spelling and after a lookup', async () => {
  const egress = createEgressPolicy({
    allowHttp: true,
    allowNetworks: ['10.0.0.0/8'],
    denyNetworks: ['8.8.8.0/24', '10.1.0.0/16', '2606:4700::/32'],
    resolve: (_name, _options, done) => done(null, [{ address: '8.8.8.9', family: 4 }]),
  });
  for (const host of ['8.8.8.8', '134744072', '[::ffff:8.8.8.8]', '10.1.2.3', '[2606:4700::1]'])
    expect({ host, ok: egress.checkUrl(`http://${host}/`).ok }).toEqual({ host, ok: false });
  for (const host of ['8.8.4.4', '10.2.0.1', '[2606:4701::1]'])
    expect({ host, ok: egress.checkUrl(`http://${host}/`).ok }).toEqual({ host, ok: true });
  const server = await aServer((_request, response) => response.end());
  const { code } = await errorOf(askDetail(aClient({ egress }), `http://public.example:${server.port}/`));
  expect(code).toBe('forbidden_address');
  expect(server.connections()).toBe(0);
});

test('only the ports of WEBHOOK_PORTS are connected to, if there are any', () => {
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: [], ports: [443, 8443] });
  expect(egress.checkUrl('https://acme.example/').ok).toBe(true);
  expect(egress.checkUrl('https://acme.example:8443/').ok).toBe(true);
  expect(egress.checkUrl('https://acme.example:6379/')).toEqual({
    ok: false,
    reason: 'port 6379 is none of WEBHOOK_PORTS',
  });
  expect(egress.checkUrl('http://acme.example/').ok).toBe(false);
});
