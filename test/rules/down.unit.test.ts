import { describe, expect, it } from 'vitest';
import { findRunFault, isAnswered, isDetailWebhookDown, maySkipPage } from '#src/rules/down.ts';

describe('An answered call', () => {
  it.each([200, 301, 400, 404, 429, 500, 503])('is HTTP status %i, with or without an envelope', (status) => {
    expect(isAnswered({ code: 'http_status', transport: true, status })).toBe(true);
    expect(isAnswered({ code: 'ret_code', transport: false, status })).toBe(true);
  });

  it('is a body that cannot be read', () => {
    expect(isAnswered({ code: 'not_json', transport: false })).toBe(true);
  });

  it('is not a call that failed before any HTTP status', () => {
    expect(isAnswered({ code: 'timeout', transport: true })).toBe(false);
  });

  it('is not a response that asks to wait', () => {
    expect(isAnswered({ code: 'http_status', transport: true, status: 503, retryAfterMs: 0 })).toBe(false);
  });
});

it('a detail webhook is down when no call was answered and ten games began to fail', () => {
  expect(isDetailWebhookDown({ answered: 0, newlyFailed: 10 })).toBe(true);
  expect(isDetailWebhookDown({ answered: 1, newlyFailed: 100 })).toBe(false);
  expect(isDetailWebhookDown({ answered: 0, newlyFailed: 9 })).toBe(false);
});

describe('A list page', () => {
  const unreadable = ['not_utf8', 'too_deep', 'not_json', 'not_envelope', 'body_too_large', 'not_decodable'];
  it.each([...unreadable, 'invalid_data'])('whose body is %s is skipped, the first one too', (code) => {
    for (const page_num of [1, 2]) expect(maySkipPage(page_num, { code, transport: false })).toBe(true);
  });

  it('that the application fails is skipped, unless it is the first', () => {
    const failures = [
      { code: 'http_status', transport: true, status: 500 },
      { code: 'ret_code', transport: false, status: 200 },
      { code: 'ret_code', transport: false, status: 500 },
    ];
    for (const failure of failures) {
      expect(maySkipPage(1, failure)).toBe(false);
      expect(maySkipPage(2, failure)).toBe(true);
    }
  });

  it.each([401, 403, 404, 410])('that is refused with HTTP %i is not skipped', (status) => {
    expect(maySkipPage(2, { code: 'http_status', transport: true, status })).toBe(false);
    expect(maySkipPage(2, { code: 'ret_code', transport: false, status })).toBe(false);
  });

  it.each(['forbidden_address', 'redirect', 'timeout', 'connect_failed', 'aborted'])(
    'whose call ended with %s is not skipped, with HTTP 502 or without a status',
    (code) => {
      for (const status of [undefined, 502])
        expect(maySkipPage(2, { code, transport: code !== 'aborted', status })).toBe(false);
    },
  );
});

describe('the fault of a failed run', () => {
  it.each([
    ['unreachable', ['name_not_found', 'connect_failed', 'proxy_failed', 'timeout']],
    ['application', ['timeout', 'http_status']],
    ['application', ['tls_failed']],
    ['worker', ['timeout', 'no_socket']],
    ['none', []],
  ] as const)('is %s if its calls failed with %j', (fault, codes) => {
    expect(findRunFault(codes.map((code) => ({ code })))).toBe(fault);
  });
});
