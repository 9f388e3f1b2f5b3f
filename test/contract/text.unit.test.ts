import { expect, test } from 'vitest';
import { z } from 'zod';
import { FAILURE_KINDS } from '#src/contract/failure-words.ts';
import { httpUrl, identifier, optionalHttpUrl, storableText, URL_MAX } from '#src/contract/text.ts';
import { CALL_TIMEOUT_MS } from '#src/rules/budgets.ts';

const codesOf = (schema: typeof httpUrl, value: string): unknown[] =>
  (schema.safeParse(value).error?.issues ?? []).map((issue) =>
    issue.code === 'custom' ? issue.params?.code : issue.code,
  );

test.each([
  ['too long, and not a URL', httpUrl, 'x'.repeat(URL_MAX + 1), 'too_long'],
  ['too long, with a lone surrogate', storableText(3), 'abc\ud800', 'too_long'],
  ['not storable, and not a URL', httpUrl, 'ftp://a\u0000', 'not_storable'],
  ['not storable, and not a URL, where "" is allowed', optionalHttpUrl, '\ud800', 'not_storable'],
  ['too long for an identifier', identifier, '\u0000'.repeat(513), 'too_long'],
])('validation stops at the first failed check: %s', (_, schema, value, code) => {
  expect(codesOf(schema, value)).toEqual([code]);
});

test('characters are counted as Postgres counts them', () => {
  expect(codesOf(storableText(3), '🎲🎲🎲')).toEqual([]);
  expect(codesOf(storableText(3), '🎲🎲🎲🎲')).toEqual(['too_long']);
});

test.each([
  'HTTPS://cdn.example/i.png',
  'Http://cdn.example',
  'https://cdn.example/a b',
  'https://cdn.example/a\\b',
  'https://cdn.example/é.png',
])('a URL is accepted as it was sent, by the OpenAPI pattern too: %s', (url) => {
  expect(codesOf(httpUrl, url)).toEqual([]);
  expect(url).toMatch(new RegExp(String(z.toJSONSchema(httpUrl).pattern)));
});

test.each([
  ' https://cdn.example/i.png',
  'https://cdn.example/i.png\u00a0',
  'https://cdn.example/i\t.png',
  'https://cdn.example/i\u007f.png',
  'ftp://cdn.example/i.png',
  '//cdn.example/i.png',
])('a URL with a control character, white space at an end, or another scheme is not: %j', (url) => {
  expect(codesOf(httpUrl, url)).toEqual(['not_http_url']);
});

const label = 'a'.repeat(49);
const host250 = `${label}.${label}.${label}.${label}.${label}`.slice(0, 249);

test.each([
  `https://${host250}.com/i.png`,
  `https://${host250}.com:8443`,
  `https://user:secret@${host250}.com?x=1`,
])('a host of 253 characters is accepted: %s', (url) => {
  expect(codesOf(httpUrl, url)).toEqual([]);
});

test.each([
  `https://${host250}.info/i.png`,
  `https://${host250}.info:8443`,
  `https://user@${host250}.info`,
  `https://${'é'.repeat(254)}/`,
  `https://${'é'.repeat(64)}.com/`,
  `https://user@${'é'.repeat(254)}`,
])('a longer host, or a longer part of one, is not: %s', (url) => {
  expect(codesOf(httpUrl, url)).toEqual(['not_http_url']);
  expect(codesOf(optionalHttpUrl, url)).toEqual(['not_http_url']);
});

test('the sentence about a call without an answer says the limit of calls', () => {
  expect(FAILURE_KINDS.timeout).toBe(`No complete answer within ${CALL_TIMEOUT_MS / 1_000} seconds.`);
});
