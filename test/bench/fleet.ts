import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Database } from '#db/client.ts';
import { setApplicationStatus } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { queryGameList } from '#src/ingest/specs.ts';
import { enqueueNextPage, openRun } from '#src/ingest/steps.ts';
import { type Foundation, openFoundation } from '#src/processes/foundation.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import type { ApplicationsRequest, Calls } from '#test/bench/application-server.ts';
import { type BenchProcess, startProcess } from '#test/bench/processes.ts';
import type { Servers } from '#test/bench/servers.ts';
import { addApplication } from '#test/support/factories.ts';

const DAY_MS = 24 * 60 * 60_000;
/** The most that an application may have, and faster than anything measured: its pace is not what is asked for here. */
const NO_RATE = 100_000;
const POLL_MS = 25;
/** Longer than a million games take. */
const SYNC_MAX_MS = 20 * 60_000;

export type Applications = BenchProcess & { ports: number[]; calls: () => Promise<Calls> };

/** Where a fleet of the bench stands; without `redisUrl` its queues are in its database. */
export type Ground = Pick<Servers, 'encryptionKeys' | 'home'> & { redisUrl?: string | undefined };

/** Starts the servers of these applications, in a process of their own. */
export const startApplications = async (request: ApplicationsRequest): Promise<Applications> => {
  const server = startProcess('./application-server.ts');
  const ports = await server.ask<number[]>({ serve: request }, 'ports');
  return { ...server, ports, calls: () => server.ask<Calls>('calls', 'calls') };
};

/** Register an application for each server. */
export const register = (
  servers: Ground,
  sql: Database,
  ports: readonly number[],
  concurrency: number,
  name = 'bench',
): Promise<string[]> => {
  const addresses = ports.map((port) => `http://127.0.0.1:${port}`);
  return registerAt(servers, sql, addresses, { concurrency, name });
};

/** Register an application for each address of a server. */
export const registerAt = async (
  servers: Ground,
  sql: Database,
  addresses: readonly string[],
  { concurrency, name }: { concurrency: number; name: string },
): Promise<string[]> => {
  const keys = await openKeyRing({ ...servers, databaseUrl: undefined });
  return Promise.all(
    addresses.map(async (url, index) => {
      const application_id = `${name}-${index}`;
      const webhooks = {
        query_game_list_webhook: `${url}/list`,
        query_game_detail_webhook: `${url}/detail`,
        query_cp_kyc_webhook: `${url}/kyc`,
      };
      const settings = { ...webhooks, kyc_every_ms: DAY_MS, concurrency, rate: NO_RATE };
      await addApplication(sql, application_id, settings, keys);
      // Paused: no schedule ticks beside what is measured. A run that is opened by hand runs all the same.
      await setApplicationStatus(sql, application_id, 'paused');
      return application_id;
    }),
  );
};

/** The real `catalogue worker`, ready. */
export const startWorker = async (servers: Ground, databaseUrl: string): Promise<BenchProcess> => {
  const worker = startProcess('./columns/ours.ts', {
    DATABASE_URL: databaseUrl,
    REDIS_URL: servers.redisUrl ?? '',
    ENCRYPTION_KEYS: servers.encryptionKeys,
    CATALOGUE_HOME: servers.home,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  });
  await worker.next('ready');
  return worker;
};

export type Synced = { wallMs: number; runs: RunRow[] };

/** The database and the queues, as the command line opens them. */
export const openProducer = (servers: Ground, databaseUrl: string): Foundation =>
  openFoundation({ redisUrl: servers.redisUrl, queuePrefix: '{catalogue}' }, databaseUrl, {
    use: 'producer',
    name: 'bench',
    maxConnections: 4,
    logger: pino({ level: 'silent' }),
  });

/** Opens a run, as `catalogue sync` does. */
export const startRun = async (
  { sql, producer }: Pick<Foundation, 'sql' | 'producer'>,
  application_id: string,
): Promise<string> => {
  const wanted = { run_id: randomUUIDv7(), application_id, trigger: 'manual' } as const;
  const { run } = await openRun(sql, { ...wanted, full: false, accept_withdrawals: false });
  await enqueueNextPage(producer, run);
  return run.run_id;
};

/**
 * Open a run for each application, and wait until all have ended.
 * @param spreadMs the runs open one by one over this time, as schedules open them; all at once without it
 */
export const syncAll = async (
  servers: Ground,
  databaseUrl: string,
  sql: Database,
  applicationIds: readonly string[],
  spreadMs = 0,
): Promise<Synced> => {
  await using foundation = openProducer(servers, databaseUrl);
  // A run's time is from its opening to its end: to connect first is no part of it.
  await Promise.all([foundation.sql`select 1`, foundation.producer.queue(queryGameList).waitUntilReady()]);
  const run_ids = await Promise.all(
    applicationIds.map(async (application_id, index) => {
      if (spreadMs > 0) await sleep((spreadMs * index) / applicationIds.length);
      return startRun(foundation, application_id);
    }),
  );
  const deadline = Date.now() + SYNC_MAX_MS;
  for (;;) {
    const [open] = await sql`select 1 from sync_runs where finished_at is null limit 1`;
    if (open === undefined) break;
    if (Date.now() > deadline) throw new Error(`the runs did not end within ${SYNC_MAX_MS / 60_000} minutes`);
    await sleep(POLL_MS);
  }
  const runs = await sql<RunRow[]>`select * from sync_runs where run_id = any(${run_ids}::uuid[])`;
  const bad = runs.find((run) => run.outcome !== 'succeeded');
  if (bad !== undefined) throw new Error(`a run ended as ${bad.outcome}: ${bad.reason}`);
  const from = Math.min(...runs.map((run) => run.started_at.getTime()));
  const to = Math.max(...runs.map((run) => run.finished_at?.getTime() ?? 0));
  return { wallMs: to - from, runs };
};
