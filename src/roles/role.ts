/** A running part of the fleet. */
export type Role = {
  name: 'worker' | 'api' | 'console' | 'media' | 'kyc-desk';
  /** URL; null for worker and media. */
  address: string | null;
  /** Worker and media: did database and queue answer within the last 30 s? */
  isReady?: () => boolean;
  /** Stops in reverse order of start, within a deadline. */
  stop: () => Promise<void>;
};
