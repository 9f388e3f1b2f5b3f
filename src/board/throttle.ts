import { isIPv6 } from 'node:net';

/** Typing errors that cost nothing; each one after doubles the wait, from one second. */
const FREE_FAILURES = 5;
const MAX_WAIT_MS = 60_000;
/** Without a failure for this long, an address starts afresh. */
const FORGET_MS = 60 * 60_000;
/** Memory is bounded: past this many addresses the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 1_000;

export type Throttle = {
  /** Milliseconds until this address may try a password again; 0 when it may now. */
  waitMs(address: string): number;
  failed(address: string): void;
  succeeded(address: string): void;
};

/** An IPv6 customer owns a /64 and can change addresses within it at will, so it counts as one. */
const networkOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...(head ?? []), ...(tail ?? [])];
  const zeros = Array<string>(8 - groups.length).fill('0');
  return [...(head ?? []), ...zeros, ...(tail ?? [])].slice(0, 4).join(':');
};

/**
 * Slows the guessing of passwords: after five wrong ones an address waits, up to a minute between two
 * tries. While it waits even the right password is refused, or there would be nothing to slow.
 */
export const createThrottle = ({ now = Date.now }: { now?: () => number } = {}): Throttle => {
  const failures = new Map<string, { count: number; at: number; until: number }>();

  const current = (network: string) => {
    const entry = failures.get(network);
    return entry !== undefined && now() - entry.at < FORGET_MS ? entry : undefined;
  };

  return {
    waitMs: (address) => Math.max(0, (current(networkOf(address))?.until ?? 0) - now()),
    failed(address) {
      const network = networkOf(address);
      const count = (current(network)?.count ?? 0) + 1;
      const waitMs = count < FREE_FAILURES ? 0 : Math.min(MAX_WAIT_MS, 1_000 * 2 ** (count - FREE_FAILURES));
      failures.delete(network);
      const [oldest] = failures.keys();
      if (oldest !== undefined && failures.size >= MAX_ADDRESSES) failures.delete(oldest);
      failures.set(network, { count, at: now(), until: now() + waitMs });
    },
    succeeded(address) {
      failures.delete(networkOf(address));
    },
  };
};
