/** A running part of the fleet. */
export type Role = {
  name: 'worker' | 'api' | 'board';
  /** URL; null for the worker. */
  address: string | null;
  /** Worker only: did database and queue answer within the last 30 s? */
  isReady?: () => boolean;
  /** Stops in reverse order of start, within a deadline. */
  stop: () => Promise<void>;
};
