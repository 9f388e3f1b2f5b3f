import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { shareConcurrency } from '#src/lib/share-concurrency.ts';
import { LOOKUPS } from '#src/rules/budgets.ts';

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Finds all addresses of a name, as `dns.lookup` does. */
export type Resolve = (hostname: string, options: { all: true }, found: Found) => void;

/** Most names that are remembered as slow. */
const SLOW_NAMES_MAX = 10_000;

/**
 * Bounds the look-ups that run at once. A look-up takes a thread until the name's servers answer or the system gives
 * up, even after the call that started it has ended. Therefore concurrent callers share one look-up of a name, and names
 * whose last look-up was slow have separate places, so that silent servers do not block other names.
 */
export const shareLookups = (resolve: Resolve, limits: typeof LOOKUPS = LOOKUPS): Resolve => {
  const running = new Map<string, Found[]>();
  const slow = new LRUCache<string, true>({ max: SLOW_NAMES_MAX });
  const runOrdinary = shareConcurrency(limits.ordinary);
  const runSlow = shareConcurrency(limits.slow);

  return (hostname, options, found) => {
    const waiting = running.get(hostname);
    if (waiting !== undefined) {
      waiting.push(found);
      return;
    }
    const all = [found];
    running.set(hostname, all);
    const lookUp = () =>
      new Promise<void>((ended) => {
        const startedAt = performance.now();
        resolve(hostname, options, (error, addresses) => {
          if (performance.now() - startedAt >= limits.slowMs) slow.set(hostname, true);
          else slow.delete(hostname);
          running.delete(hostname);
          ended();
          for (const each of all) each(error, addresses);
        });
      });
    void (slow.has(hostname) ? runSlow : runOrdinary)(hostname, lookUp);
  };
};
