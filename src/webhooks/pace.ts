import { setTimeout as sleep } from 'node:timers/promises';
import { MEMORY, PACE } from '#src/rules/budgets.ts';

/** What a response has cost this process: bytes that arrived or were decompressed, milliseconds of the event loop. */
export type Cost = { bytes: number; ms: number };

/** How fast applications may use this process. One per process. */
export type ProcessPace = {
  /** Resolves when the application has waited as long as its responses cost, or when the signal aborts. */
  wait: (applicationId: string, signal: AbortSignal) => Promise<void>;
  /** Delays the application's next call by the time that this cost is worth. */
  charge: (applicationId: string, cost: Cost) => void;
};

/**
 * Paces applications whose responses are larger than `MEMORY.ordinaryBytes` or take longer than `PACE.ordinaryMs`: each
 * may use `bytesOfOne` bytes a second and `shareOfOne` of the event loop, all of them together `bytes` and `share`.
 * Applications with ordinary responses are paced by their `rate` alone, so they do not notice the others. The first
 * `creditMs` of work are free, because garbage collection or a busy machine can make any response slow.
 */
export const createProcessPace = (limits: typeof PACE = PACE): ProcessPace => {
  /** Until when each application must wait, in milliseconds of the monotonic clock. */
  const paidAt = new Map<string, number>();

  /** An application's share of a limit: its own maximum, or an equal part of the total. */
  const partOf = (ofOne: number, ofAll: number): number => Math.min(ofOne, ofAll / paidAt.size);

  /** The waiting time that equals `creditMs` of work. */
  const creditWaitMs = (): number => limits.creditMs / partOf(limits.shareOfOne, limits.share);

  const forgetPaid = (now: number): void => {
    for (const [id, at] of paidAt) if (at <= now) paidAt.delete(id);
  };

  return {
    wait: async (applicationId, signal) => {
      while (!signal.aborted) {
        const at = paidAt.get(applicationId);
        if (at === undefined) return;
        const now = performance.now();
        forgetPaid(now);
        const ms = at - now - creditWaitMs();
        if (ms <= 0) return;
        await sleep(ms, undefined, { signal }).catch(() => {});
      }
    },
    charge: (applicationId, cost) => {
      const bytes = cost.bytes > MEMORY.ordinaryBytes ? cost.bytes : 0;
      const ms = cost.ms > limits.ordinaryMs ? cost.ms : 0;
      if (bytes === 0 && ms === 0) return;
      const now = performance.now();
      forgetPaid(now);
      const from = paidAt.get(applicationId) ?? now;
      paidAt.set(applicationId, from);
      const waitMs = Math.max(
        (1_000 * bytes) / partOf(limits.bytesOfOne, limits.bytes),
        ms / partOf(limits.shareOfOne, limits.share),
      );
      paidAt.set(applicationId, Math.min(from + waitMs, now + creditWaitMs() + limits.maxWaitMs));
    },
  };
};

/** Counts the milliseconds that synchronous work takes, without those in which this thread was not scheduled. */
export type Stopwatch = {
  start: () => void;
  stop: () => void;
  time: <Result>(work: () => Result) => Result;
  ms: () => number;
};

/** Shorter work counts as it is. */
const SHORT_MS = 1;

/** CPU time of this thread in milliseconds. Some kernels count it in steps of 4. */
const readCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The CPU time of a moment that is at most `SHORT_MS` ago, because two readings for each work would cost 1 % of a game. */
let recent = { at: Number.NEGATIVE_INFINITY, cpuMs: 0 };

export const createStopwatch = (): Stopwatch => {
  let startedAt = 0;
  let cpuBefore = 0;
  let totalMs = 0;
  const watch: Stopwatch = {
    start: () => {
      startedAt = performance.now();
      if (startedAt - recent.at > SHORT_MS) recent = { at: startedAt, cpuMs: readCpuMs() };
      cpuBefore = recent.cpuMs;
    },
    stop: () => {
      const ms = performance.now() - startedAt;
      totalMs += ms > SHORT_MS ? Math.min(ms, readCpuMs() - cpuBefore) : ms;
    },
    time: (work) => {
      watch.start();
      try {
        return work();
      } finally {
        watch.stop();
      }
    },
    ms: () => totalMs,
  };
  return watch;
};
