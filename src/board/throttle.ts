import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';

/** This failure delays the next attempt by one second; each further failure doubles the delay. */
const FIRST_DELAYED_FAILURE = 5;
const MAX_WAIT_MS = 60_000;
/** Failures expire after this time without another failure. */
const FORGET_MS = 60 * 60_000;
/** Bounds memory: one more address evicts the one that failed longest ago. */
const MAX_ADDRESSES = 1_000;

export type Throttle = {
  /** Milliseconds until this address may send a password; 0: now. */
  waitMs(address: string): number;
  failed(address: string): void;
  succeeded(address: string): void;
};

/** An IPv6 /64 counts as one address: its owner can use any address in it. */
const networkOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...(head ?? []), ...(tail ?? [])];
  const zeros = Array<string>(8 - groups.length).fill('0');
  return [...(head ?? []), ...zeros, ...(tail ?? [])].slice(0, 4).join(':');
};

/**
 * Slows the guessing of passwords: from the fifth wrong password on, an address waits up to a minute between attempts.
 * During the wait even the right password is refused.
 */
export const createThrottle = ({ now = Date.now }: { now?: () => number } = {}): Throttle => {
  const failures = new LRUCache<string, { count: number; at: number; until: number }>({ max: MAX_ADDRESSES });

  const current = (network: string) => {
    const entry = failures.peek(network);
    return entry !== undefined && now() - entry.at < FORGET_MS ? entry : undefined;
  };

  return {
    waitMs: (address) => Math.max(0, (current(networkOf(address))?.until ?? 0) - now()),
    failed(address) {
      const network = networkOf(address);
      const count = (current(network)?.count ?? 0) + 1;
      const doublings = count - FIRST_DELAYED_FAILURE;
      const waitMs = doublings < 0 ? 0 : Math.min(MAX_WAIT_MS, 1_000 * 2 ** doublings);
      failures.set(network, { count, at: now(), until: now() + waitMs });
    },
    succeeded(address) {
      failures.delete(networkOf(address));
    },
  };
};
