import { expect, test } from 'vitest';
import { spellKinds } from '#src/contract/failure-words.ts';
import { CallError } from '#src/egress/errors.ts';
import { explainCallError } from '#src/ingest/explain-failures.ts';

test.each([
  [new CallError('timeout', ''), 'no complete answer within 15 seconds'],
  [
    new CallError('connect_failed', '', { reasons: [{ path: '', code: 'econnrefused' }] }),
    'no connection, or it closed before the answer began (econnrefused)',
  ],
  [
    new CallError('http_status', '', { status: 401 }),
    'the webhook answered with an HTTP error, and the body is not the expected JSON (HTTP 401)',
  ],
  [
    new CallError('not_envelope', '', { status: 200, reasons: [{ path: 'ret_code', code: 'invalid_type' }] }),
    'the answer has no ret_code and ret_msg (section 2.1) (ret_code missing or of another type, HTTP 200)',
  ],
  [
    new CallError('ret_code', '', { retCode: 500, retMsg: 'Try later; busy.' }),
    'the webhook returned a failure (500) "Try later; busy."',
  ],
  [
    new CallError('proxy_failed', ''),
    'a fault of the platform: The proxy of its calls does not answer, or refuses its password',
  ],
])('the reason of a run says in words why a call failed: %s', (error, words) => {
  const code = explainCallError(error);
  expect(spellKinds(`page 1: ${code}`)).toBe(`page 1: ${words}`);
  expect(spellKinds(`page 1: ${code}; 12 details wait`)).toBe(`page 1: ${words}; 12 details wait`);
});

test('a word that is no kind stays as it is', () => {
  expect(spellKinds('page 1: constructor; paused: by kim')).toBe('page 1: constructor; paused: by kim');
});
