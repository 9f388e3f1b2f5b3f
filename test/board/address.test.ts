import { expect, test } from 'vitest';
import { checkBoardAddress, isLoopback } from '#src/board/address.ts';
import { UsageError } from '#src/errors.ts';
import { LOGIN } from '#test/board/support.ts';

test.each([
  '127.0.0.1',
  '127.8.9.10',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
  'localhost',
  'LOCALHOST',
  'board.localhost',
])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
  expect(() => checkBoardAddress(host, null)).not.toThrow();
});

test.each([
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '::ffff:10.0.0.1',
  'board.example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
])('%j needs a login', (host) => {
  expect(() => checkBoardAddress(host, null)).toThrow(UsageError);
  expect(() => checkBoardAddress(host, null)).toThrow(/BOARD_USER and BOARD_PASSWORD/);
  expect(() => checkBoardAddress(host, LOGIN)).not.toThrow();
});
