import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Read at most once in `maxAgeMs`, however many ask, and wait for it at most `timeoutMs`.
 * @returns a function that gives what was read, or undefined when reading failed or takes too long: then there
 *   is no figure, rather than an old one.
 */
export const cached = <Facts>(
  maxAgeMs: number,
  timeoutMs: number,
  read: () => Promise<Facts>,
): (() => Promise<Facts | undefined>) => {
  let current: { facts: Promise<Facts | undefined>; until: number } | undefined;
  return async () => {
    if (current === undefined || performance.now() > current.until) {
      const reading = read().catch(() => undefined);
      const attempt = { facts: reading, until: Number.POSITIVE_INFINITY };
      current = attempt;
      // What failed is asked for again at the next scrape; what hangs is not asked for a second time beside it.
      reading.then((facts) => {
        attempt.until = facts === undefined ? 0 : performance.now() + maxAgeMs;
      });
    }
    const done = new AbortController();
    const late = sleep(timeoutMs, undefined, { signal: done.signal }).catch(() => undefined);
    const facts = await Promise.race([current.facts, late]);
    done.abort();
    return facts;
  };
};
