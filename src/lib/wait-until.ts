import { setTimeout as sleep } from 'node:timers/promises';

/** Shorter waits are skipped, because timers are not more precise. */
const TICK_MS = 2;

/** Waits until a moment of the monotonic clock, in milliseconds, or the abort. */
export const waitUntil = async (moment: number, signal: AbortSignal): Promise<void> => {
  const ms = moment - performance.now();
  if (ms >= TICK_MS) await sleep(ms, undefined, { signal }).catch(() => {});
};
