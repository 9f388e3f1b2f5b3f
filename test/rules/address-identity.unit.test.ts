import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressEnd, addressIdentity, compareAddresses, identityRule } from '#src/rules/address-identity.ts';
import { URL_SIGNERS } from '#src/rules/url-signers.ts';
import { SIGNED_ADDRESSES, type SignedAddress } from '#test/support/signed-addresses.ts';

const NO_VOLATILE = identityRule([]);
const identity = (address: string): string => addressIdentity(address, NO_VOLATILE);

test('each signer of the table has an address of its documentation here', () => {
  const names = SIGNED_ADDRESSES.map(({ signer }) => signer);
  expect(new Set(names)).toEqual(new Set(URL_SIGNERS.map(({ name }) => name)));
});

describe.each(SIGNED_ADDRESSES)('$signer', ({ signer, address, again, plain, end }: SignedAddress) => {
  test('the address that was signed, whenever it was signed', () => {
    expect(identity(address)).toBe(plain);
    expect(identity(again)).toBe(plain);
    expect(compareAddresses(address, again, NO_VOLATILE)).toEqual({ kind: 'signature', by: [signer] });
  });

  test('tells its end, or does not', () => {
    expect(addressEnd(address)?.toISOString()).toBe(end);
  });

  test('another object, another host, another scheme and another parameter are changes', () => {
    const others = [
      address.replace('?', '2?'),
      address.replace('//', '//2'),
      address.startsWith('https:') ? address.replace('https:', 'http:') : address.replace('http:', 'https:'),
      `${address}&id=17`,
      `${address}#part`,
    ];
    expect(new Set([plain, ...others.map(identity)])).toHaveProperty('size', others.length + 1);
    for (const other of others)
      expect(compareAddresses(address, other, NO_VOLATILE).kind).not.toBe('signature');
    expect(identity(`${address}&id=17`)).not.toBe(identity(`${again}&id=18`));
  });

  test('is none without one of its parameters, or with one of them twice', () => {
    const query = address.slice(address.indexOf('?') + 1);
    const base = address.slice(0, address.indexOf('?'));
    const { required = {} } = URL_SIGNERS.find(({ name }) => name === signer) ?? {};
    for (const name of Object.keys(required)) {
      const parameters = query.split('&');
      const others = parameters.filter((each) => !each.startsWith(`${name}=`));
      expect(others).toHaveLength(parameters.length - 1);
      const without = [base, others.join('&')].filter((part) => part !== '').join('?');
      expect(identity(without)).toBe(without);
      const twice = `${address}&${name}=2`;
      expect(identity(twice)).toBe(twice);
    }
  });
});

test.each([
  'https://cdn.example/a.png',
  'https://cdn.example/a.png?',
  'https://cdn.example/a.png?id=17',
  'https://cdn.example/a.png?token=5f1c0c9ae2b74d0e',
  'https://cdn.example/a.png?e=1&token=2',
  'https://cdn.example/a.png?Expires=1767290400&Signature=abc',
  'https://cdn.example/a.png?sign=3&t=4',
  'https://cdn.example/a.png?sv=1&sig=2',
  'https://cdn.example/a.png?auth_key=17',
  'https://cdn.example/a.png?sign=0f8201d814dfaf64cf54e74c5f7dbcb0',
  'https://cdn.example/a.png#?X-Amz-Signature=1',
  'https://cdn.example/a.png?v=%E0%A4%A',
])('%s is its own identity', (address) => {
  expect(identity(address)).toBe(address);
  expect(addressEnd(address)).toBeUndefined();
});

test('a parameter that the operator has named does not count, for any value and however often', () => {
  const rule = identityRule(['t', 'session']);
  const same = ['?id=17&t=1', '?t=2&id=17&t=3', '?id=17', '?session&id=17&t'];
  const of = (query: string) => addressIdentity(`https://cdn.example/a.png${query}`, rule);
  expect(new Set(same.map(of))).toEqual(new Set(['https://cdn.example/a.png?id=17']));
  expect(of('?id=18&t=1')).not.toBe(of('?id=17&t=1'));
  expect(of('?T=1')).toBe('https://cdn.example/a.png?T=1');
  expect(of('?t=1')).toBe('https://cdn.example/a.png');
});

test('the tag of a rule names what it leaves out', () => {
  expect(identityRule(['a', 'b']).tag).toBe(identityRule(['b', 'a', 'b']).tag);
  const tags = [[], ['a'], ['b'], ['a', 'b']].map((names) => identityRule(names).tag);
  expect(new Set(tags)).toHaveProperty('size', tags.length);
});

test.each([
  ['?t=1', '?t=2', { kind: 'parameters', names: ['t'] }],
  ['?id=7&t=1&u=1', '?id=7&t=2&u=2', { kind: 'parameters', names: ['t', 'u'] }],
  ['?t=1', '?t=1', { kind: 'same' }],
  ['?t=1', '?u=1', { kind: 'other' }],
  ['?t=1', '', { kind: 'other' }],
  ['?t=1&u=2', '?u=2&t=1', { kind: 'other' }],
  ['?t=1#a', '?t=2#b', { kind: 'other' }],
])('%s and %s', (one, other, expected) => {
  const base = 'https://cdn.example/a.png';
  expect(compareAddresses(base + one, base + other, NO_VOLATILE)).toEqual(expected);
});

const names = [
  ...new Set(URL_SIGNERS.flatMap(({ required, optional = [] }) => [...Object.keys(required), ...optional])),
];
const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1, maxLength: 3 });
const signature = fc.constantFrom(
  ...SIGNED_ADDRESSES.map(({ address }) => address.slice(address.indexOf('?') + 1)),
);
const parameter = fc.oneof(
  signature,
  fc.tuple(fc.oneof(fc.constantFrom(...names), hex), hex).map(([name, value]) => `${name}=${value}`),
);
const address = fc.record({
  scheme: fc.constantFrom('http', 'https'),
  host: fc.constantFrom('a.example', 'b.example'),
  path: fc.oneof(fc.constantFrom('a', 'b'), hex),
  query: fc.array(parameter, { maxLength: 4 }).map((parameters) => parameters.join('&')),
  fragment: fc.constantFrom('', '#a'),
});
type Address = { scheme: string; host: string; path: string; query: string; fragment: string };
const textOf = ({ scheme, host, path, query, fragment }: Address) =>
  `${scheme}://${host}/${path}${query === '' ? '' : `?${query}`}${fragment}`;
/** What counts in any case: everything, and of the query the parameters that are in no row of the table. */
const meaningOf = ({ query, ...others }: Address) => ({
  ...others,
  parameters: query.split('&').filter((each) => each !== '' && !names.includes(each.split('=', 1)[0] ?? '')),
});

test('an identity never joins two addresses that differ in scheme, host, path, or a parameter outside the table', () => {
  const pair = fc.tuple(
    address,
    address,
    fc.constantFrom('scheme', 'host', 'path', 'query', 'fragment', 'none'),
  );
  fc.assert(
    fc.property(pair, ([one, random, differing]) => {
      // The second address is the first with another part, or any.
      const other =
        differing === 'none' ? random : { ...one, [differing]: random[differing as keyof Address] };
      if (identity(textOf(one)) === identity(textOf(other))) expect(meaningOf(one)).toEqual(meaningOf(other));
    }),
    { numRuns: 20_000 },
  );
});

test('an identity is its own identity', () => {
  fc.assert(
    fc.property(address, (any) => {
      const once = identity(textOf(any));
      expect(identity(once)).toBe(once);
    }),
  );
});

test('the time for an address grows with its parameters, not with their square', () => {
  const cpuOf = (parameters: number, rounds: number): number => {
    const hostile = `https://cdn.example/a?${Array.from({ length: parameters }, (_, n) => n % 10).join('&')}`;
    const before = process.threadCpuUsage();
    for (let n = 0; n < rounds; n += 1) identity(hostile);
    return process.threadCpuUsage(before).user;
  };
  cpuOf(1_000, 100);
  // The same number of parameters in all: their square would be 64 times as much.
  expect(cpuOf(64_000, 20)).toBeLessThan(20 * cpuOf(1_000, 1_280));
});
