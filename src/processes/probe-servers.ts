import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Database } from '#db/client.ts';
import { probeWrites } from '#db/queries/probe.ts';
import { CatalogueError } from '#src/errors.ts';
import type { Foundation } from '#src/processes/foundation.ts';

/** An orchestrator waits 5 s for `/readyz` (deploy/kubernetes), and shows only what it received by then. */
const PROBE_MS = 3_000;

/** Less than `PROBE_MS`, to distinguish a server that accepts no connection from one that accepts no write. */
export const CONNECT_S = 2;

const inTime = (probe: Promise<void>, message: string): Promise<void> =>
  pTimeout(probe, { milliseconds: PROBE_MS, message: new CatalogueError(message) });

const TAKES_NO_WRITE = `accepts connections, and takes no write within ${PROBE_MS / 1_000} s`;

/** Checks that Postgres accepts a write. @throws an error that says what is wrong, also if there is no response in 3 s */
export const probeDatabase = (sql: Foundation['sql']): Promise<void> =>
  inTime(
    probeWrites(sql),
    `Postgres ${TAKES_NO_WRITE}. It is frozen, its disk hangs, or a synchronous standby is gone (SyncRep in pg_stat_activity).`,
  );

/**
 * Checks that a pool gets a connection, because a limit of the server may refuse one to this pool alone. A pool whose
 * connections are all busy has them. @throws the error of Postgres
 */
export const probePool = async (sql: Database): Promise<void> => {
  await Promise.race([sql`select`, sleep(PROBE_MS, undefined, { ref: false })]);
};

/** Checks that the queue accepts a write. @throws an error that says what is wrong, also if there is no response in 3 s */
export const probeQueue = (backend: Foundation['backend']): Promise<void> =>
  inTime(
    backend.probe(),
    backend.kind === 'redis'
      ? `Redis ${TAKES_NO_WRITE}. It is frozen, its writes are paused (CLIENT UNPAUSE ends that), or no connection is left (maxclients).`
      : `The queue in Postgres does not answer within ${PROBE_MS / 1_000} s. Postgres is frozen.`,
  );
