/**
 * How far the clock of a process that runs jobs may be from the clock of Postgres. The clocks of two such processes then
 * differ by at most 10 s, less than the 15 s between the renewal of a job's lock and its end (runner.ts).
 */
export const CLOCK_BOUND_MS = 5_000;

/** The clock of Postgres in this process. BullMQ uses the process's own clock for delays, schedules and locks. */
export type TrustedClock = {
  /** The time of Postgres, in milliseconds since 1970: the last reading, continued by the monotonic clock. */
  now: () => number;
  /** How far the clock of this process is ahead of `now`, in milliseconds; negative if it is behind. */
  offsetMs: () => number;
  /** Why this process must not run jobs: its clock is too far from the clock of Postgres. */
  fault: () => string | undefined;
  /** Reads the clock of Postgres again. @throws the error of Postgres */
  read: () => Promise<void>;
};

/**
 * Reads the clock of Postgres.
 * @param readTime reads it once
 * @throws the error of Postgres
 */
export const openTrustedClock = async (readTime: () => Promise<Date>): Promise<TrustedClock> => {
  /** The time of Postgres when the monotonic clock was 0, and how wrong it may be: half the duration of its reading. */
  let reading = { zero: 0, errorMs: Number.POSITIVE_INFINITY };
  const read = async (): Promise<void> => {
    const from = performance.now();
    const time = await readTime();
    const errorMs = (performance.now() - from) / 2;
    // A reading that takes seconds says less than the one before it.
    if (errorMs > CLOCK_BOUND_MS && errorMs > reading.errorMs) return;
    reading = { zero: time.getTime() - from - errorMs, errorMs };
  };
  const now = () => reading.zero + performance.now();
  const offsetMs = () => Date.now() - now();
  await read();
  return {
    now,
    offsetMs,
    read,
    fault: () => {
      const offset = offsetMs();
      if (Math.abs(offset) - reading.errorMs <= CLOCK_BOUND_MS) return undefined;
      const seconds = Math.round(Math.abs(offset) / 1_000);
      const direction = offset > 0 ? 'ahead of' : 'behind';
      return `the clock of this machine is ${seconds} s ${direction} the clock of Postgres: set the one that is wrong`;
    },
  };
};
