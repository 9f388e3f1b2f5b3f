/** Shorter turns cannot be told from each other: the timer fires this often. */
const TICK_MS = 5;

/**
 * Watches the event loop of this thread: the longest turn, in milliseconds of CPU time. CPU time, because another process
 * that takes the core delays a turn as much as the turn's own work does (`monitorEventLoopDelay` cannot tell them apart).
 */
export const watchTurns = (): { longestMs: () => number; stop: () => void } => {
  let last = process.threadCpuUsage();
  let longest = 0;
  const look = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, (now.user - last.user + now.system - last.system) / 1_000);
    last = now;
  };
  const timer = setInterval(look, TICK_MS).unref();
  const longestMs = () => {
    look();
    return longest;
  };
  return { longestMs, stop: () => clearInterval(timer) };
};
