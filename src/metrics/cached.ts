import pTimeout from 'p-timeout';

/**
 * Caches the result of `read` for `maxAgeMs`. Concurrent callers share one read.
 * @returns a function that resolves to undefined if the read fails or takes longer than `timeoutMs`, because a missing
 * metric is better than an outdated one
 */
export const cached = <Facts>(
  maxAgeMs: number,
  timeoutMs: number,
  read: () => Promise<Facts>,
): (() => Promise<Facts | undefined>) => {
  let current: { facts: Promise<Facts | undefined>; until: number } | undefined;
  return () => {
    if (current === undefined || performance.now() > current.until) {
      const reading = read().catch(() => undefined);
      const attempt = { facts: reading, until: Number.POSITIVE_INFINITY };
      current = attempt;
      // The next call repeats a read that failed. It waits for a read that hangs, and starts no second one.
      reading.then((facts) => {
        attempt.until = facts === undefined ? 0 : performance.now() + maxAgeMs;
      });
    }
    return pTimeout(current.facts, { milliseconds: timeoutMs, message: false });
  };
};
