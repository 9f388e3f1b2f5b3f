import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import type { Config } from '#src/config.ts';

/** A part of the fleet that this process runs. */
export type FleetPart = {
  name: 'worker' | 'api' | 'console' | 'media' | 'kyc-desk';
  /** The URL of its HTTP server; null for worker and media, which have none. */
  address: string | null;
  /** The pool that its work uses. */
  sql: Database;
  /** Why worker or media cannot work now; undefined if they can. The other parts are ready once started. */
  fault?: () => string | undefined;
  /** Stops what was started, in reverse order. Running jobs are aborted after 20 s. */
  stop: () => Promise<void>;
};

export type StartPart = (config: Config, databaseUrl: string, logger: Logger) => Promise<FleetPart>;
