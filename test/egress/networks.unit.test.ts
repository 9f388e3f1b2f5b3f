import { expect, test } from 'vitest';
import { createForbiddenCheck, parseNetwork } from '#src/egress/networks.ts';

const isForbidden = createForbiddenCheck([]);

/** Each forbidden range: the public address before it, its first and last address, the public address after it. */
const RANGES: [before: string | null, first: string, last: string, after: string | null][] = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
  [null, '::', '::fffe:ffff:ffff', null],
  [null, '::1:0:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  [
    '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:200::',
  ],
  [
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
  ],
  ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  [
    '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff::',
    '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff:1000::',
  ],
  ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  [null, '8000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
];

test.each(RANGES)(
  'between %s and %s … %s and %s lie the limits of a forbidden range',
  (before, first, last, after) => {
    expect([first, last].map(isForbidden)).toEqual([true, true]);
    for (const outside of [before, after]) if (outside !== null) expect(isForbidden(outside)).toBe(false);
  },
);

test('an address that NAT64 translates follows the rules of the IPv4 address in it too', () => {
  const check = createForbiddenCheck(
    ['64:ff9b::/96'].flatMap((text) => parseNetwork(text) ?? []),
    ['9.9.9.0/24'].flatMap((text) => parseNetwork(text) ?? []),
  );
  const addresses = [
    '64:ff9b::808:808',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::10.0.0.1',
    '64:FF9B:0::0909:909',
    '64:ff9b::',
  ];
  expect(addresses.map(check)).toEqual([false, true, true, true, true]);
});

test('an IPv4 address in its mapped form follows the rules of IPv4', () => {
  expect(isForbidden('::ffff:10.0.0.1')).toBe(true);
  expect(isForbidden('::ffff:8.8.8.8')).toBe(false);
});

test.each(['shop.example', 'localhost', '10.0.0.0.1', '', 'fe80::1%eth0', '2606:4700::1%eth0'])(
  '%j is forbidden: it is not an address without a zone',
  (text) => {
    const everything = ['0.0.0.0/0', '::/0'].map((network) => parseNetwork(network));
    const check = createForbiddenCheck(everything.filter((network) => network !== null));
    expect(['10.0.0.1', 'fe80::1'].map(check)).toEqual([false, false]);
    expect(check(text)).toBe(true);
  },
);

test('an allowed network opens itself alone', () => {
  const allowed = ['10.1.0.0/16', 'fd00::1', '192.168.0.7'].map((text) => parseNetwork(text));
  const check = createForbiddenCheck(allowed.filter((network) => network !== null));
  expect(['10.1.0.0', '10.1.255.255', 'fd00::1', '192.168.0.7'].map(check)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  const closed = ['10.0.255.255', '10.2.0.0', 'fd00::', 'fd00::2', 'fd00:1::1', '192.168.0.6', '192.168.0.8'];
  expect(closed.filter((address) => !check(address))).toEqual([]);
});

test.each([
  ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
  [' 10.0.0.0/08 ', { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
  ['10.0.0.1', { address: '10.0.0.1', prefix: 32, family: 'ipv4' }],
  ['10.0.0.1/32', { address: '10.0.0.1', prefix: 32, family: 'ipv4' }],
  ['10.0.0.1/0', { address: '10.0.0.1', prefix: 0, family: 'ipv4' }],
  ['fd00::1', { address: 'fd00::1', prefix: 128, family: 'ipv6' }],
  ['fd00::1/128', { address: 'fd00::1', prefix: 128, family: 'ipv6' }],
  ['fd00::/64', { address: 'fd00::', prefix: 64, family: 'ipv6' }],
])('%j is a network', (text, network) => {
  expect(parseNetwork(text)).toEqual(network);
});

test.each([
  ...['', ' ', '/8', '10.0.0.0/', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8x'],
  ...[
    'x/10.0.0.0/8',
    '10.0.0.0/0008',
    '10.0.0/8',
    '10.0.0.0.0',
    'fe80::1%eth0',
    'example.com',
    '10.0.0.0 /8',
  ],
])('%j is no network', (text) => {
  expect(parseNetwork(text)).toBe(null);
});
