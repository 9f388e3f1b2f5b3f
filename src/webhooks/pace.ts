import { setTimeout as sleep } from 'node:timers/promises';
import { MEMORY, PACE } from '#src/rules/budgets.ts';

/** What a response has cost this process: bytes after decompression, milliseconds of the event loop. */
export type Cost = { bytes: number; ms: number };

/** How fast applications may use this process. One per process. */
export type Pace = {
  /** Resolves when the application has waited for what its responses cost, or the signal aborts. */
  wait: (applicationId: string, signal: AbortSignal) => Promise<void>;
  /** Delays the application's next call by the time that this cost is worth. */
  charge: (applicationId: string, cost: Cost) => void;
};

/**
 * Paces applications whose responses are larger than `MEMORY.ordinaryBytes` or take longer than `PACE.ordinaryMs`: each
 * may use `bytesOfOne` bytes a second and `shareOfOne` of the event loop, all of them together `bytes` and `share`.
 * Applications with ordinary responses are paced by their `rate` alone, so they do not notice the others.
 */
export const createPace = (limits: typeof PACE = PACE): Pace => {
  /** When each application has waited long enough, in milliseconds of the monotonic clock. */
  const waitUntil = new Map<string, number>();

  return {
    wait: async (applicationId, signal) => {
      for (;;) {
        const ms = (waitUntil.get(applicationId) ?? 0) - performance.now();
        if (ms <= 0 || signal.aborted) return;
        await sleep(ms, undefined, { signal }).catch(() => {});
      }
    },
    charge: (applicationId, cost) => {
      const bytes = cost.bytes > MEMORY.ordinaryBytes ? cost.bytes : 0;
      const ms = cost.ms > limits.ordinaryMs ? cost.ms : 0;
      if (bytes === 0 && ms === 0) return;
      const now = performance.now();
      for (const [id, until] of waitUntil) if (until <= now) waitUntil.delete(id);
      const from = waitUntil.get(applicationId) ?? now;
      waitUntil.set(applicationId, from);
      const others = waitUntil.size;
      const waitMs = Math.max(
        (1_000 * bytes) / Math.min(limits.bytesOfOne, limits.bytes / others),
        ms / Math.min(limits.shareOfOne, limits.share / others),
      );
      waitUntil.set(applicationId, Math.min(from + waitMs, now + limits.maxWaitMs));
    },
  };
};

/** Counts the time of synchronous work. */
export type Stopwatch = { ms: number; time: <Result>(work: () => Result) => Result };

export const createStopwatch = (): Stopwatch => {
  const watch: Stopwatch = {
    ms: 0,
    time: (work) => {
      const from = performance.now();
      try {
        return work();
      } finally {
        watch.ms += performance.now() - from;
      }
    },
  };
  return watch;
};
