/** A running part of the fleet. */
export type Role = {
  name: 'worker' | 'api' | 'board';
  /** Where it answers, as a URL; null for the worker. */
  address: string | null;
  /** A worker's readiness: has a job passed through queue and database lately? */
  isReady?: () => boolean;
  /** Stop in bounded time, in reverse order of start. */
  stop: () => Promise<void>;
};
