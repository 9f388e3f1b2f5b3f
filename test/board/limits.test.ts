import { expect, test } from 'vitest';
import { createSessions, SESSION_MS } from '#src/board/sessions.ts';
import { createThrottle } from '#src/board/throttle.ts';

const clock = () => {
  let time = 1_700_000_000_000;
  return { now: () => time, pass: (ms: number) => (time += ms) };
};

const fail = (throttle: ReturnType<typeof createThrottle>, address: string, times: number) => {
  for (let failure = 0; failure < times; failure += 1) throttle.failed(address);
};

test('from its fifth wrong password on an address waits, twice as long each time, at most a minute', () => {
  const throttle = createThrottle(clock());
  fail(throttle, '192.0.2.1', 4);
  expect(throttle.waitMs('192.0.2.1')).toBe(0);
  const waits = Array.from({ length: 8 }, () => {
    throttle.failed('192.0.2.1');
    return throttle.waitMs('192.0.2.1') / 1_000;
  });
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('the wait ends with time, applies to one address, and the right password resets it', () => {
  const { now, pass } = clock();
  const throttle = createThrottle({ now });
  fail(throttle, '192.0.2.1', 6);
  expect(throttle.waitMs('192.0.2.2')).toBe(0);
  pass(2_000);
  expect(throttle.waitMs('192.0.2.1')).toBe(0);
  throttle.succeeded('192.0.2.1');
  fail(throttle, '192.0.2.1', 4);
  expect(throttle.waitMs('192.0.2.1')).toBe(0);
});

test('failures expire after an hour without another one', () => {
  const { now, pass } = clock();
  const throttle = createThrottle({ now });
  fail(throttle, '192.0.2.1', 20);
  pass(60 * 60_000);
  throttle.failed('192.0.2.1');
  expect(throttle.waitMs('192.0.2.1')).toBe(0);
});

test('addresses of one IPv6 /64 count together, and a mapped IPv4 address counts as itself', () => {
  const throttle = createThrottle(clock());
  for (const last of [1, 2, 3, 4, 5]) throttle.failed(`2001:db8::a:${last}`);
  expect(throttle.waitMs('2001:db8:0:0:ffff::9')).toBe(1_000);
  expect(throttle.waitMs('2001:db8:0:1::9')).toBe(0);
  fail(throttle, '::ffff:192.0.2.1', 5);
  expect(throttle.waitMs('192.0.2.1')).toBe(1_000);
  expect(throttle.waitMs('::ffff:192.0.2.2')).toBe(0);
});

test('a thousand addresses are stored, and the one that failed longest ago is evicted', () => {
  const throttle = createThrottle(clock());
  for (let address = 0; address <= 1_000; address += 1) {
    fail(throttle, `10.0.${address >> 8}.${address & 255}`, 5);
  }
  expect(throttle.waitMs('10.0.0.0')).toBe(0);
  expect(throttle.waitMs('10.0.0.1')).toBe(1_000);
});

test('a session ends when it is closed, and twelve hours after it was opened', () => {
  const { now, pass } = clock();
  const sessions = createSessions({ now });
  const closed = sessions.open();
  const old = sessions.open();
  sessions.close(closed);
  expect([
    sessions.isOpen(closed),
    sessions.isOpen(old),
    sessions.isOpen(undefined),
    sessions.isOpen('x'),
  ]).toEqual([false, true, false, false]);
  pass(SESSION_MS - 1);
  expect(sessions.isOpen(old)).toBe(true);
  pass(1);
  expect(sessions.isOpen(old)).toBe(false);
});

test('the 1,001st session ends the oldest', () => {
  const sessions = createSessions(clock());
  const ids = Array.from({ length: 1_001 }, () => sessions.open());
  expect(ids.filter((id) => !sessions.isOpen(id))).toEqual([ids[0]]);
});
