import type { Logger } from 'pino';
import { type Config, embeddedConfig } from '#src/config.ts';
import { startApi } from '#src/roles/api.ts';
import { startConsole } from '#src/roles/console.ts';
import { startKycDesk } from '#src/roles/kyc-desk.ts';
import { startMedia } from '#src/roles/media.ts';
import { STARTING, startMetrics } from '#src/roles/metrics.ts';
import { migrateAll } from '#src/roles/migrate.ts';
import { plainConnectionWarnings } from '#src/roles/plain-connections.ts';
import type { FleetPart } from '#src/roles/role.ts';
import { checkDatabase } from '#src/roles/single-role.ts';
import { startWorker } from '#src/roles/worker.ts';
import { startTelemetry } from '#src/tracing/start.ts';

export type Everything = {
  databaseUrl: string;
  roles: FleetPart[];
  /** URL of the process's metrics server. */
  metrics: string;
  stop: () => Promise<void>;
  /** Resolves with a reason when the embedded Postgres ends. */
  lost: Promise<string>;
};

/**
 * Starts worker, API, media, console and KYC desk in one process, on `DATABASE_URL` or, without it, on the embedded
 * Postgres of this directory. Migrates the database first.
 * @param beforeRoles called after the migration. Overdue jobs, which run when the roles start, read what it writes
 */
export const startEverything = async (
  given: Config,
  logger: Logger,
  onProgress: (message: string) => void,
  beforeRoles: (databaseUrl: string) => Promise<void>,
): Promise<Everything> => {
  const config = embeddedConfig(given);
  await using started = new AsyncDisposableStack();
  started.use(await startTelemetry(config.telemetry, logger));
  let databaseUrl = config.databaseUrl;
  let lost = new Promise<string>(() => {});
  if (databaseUrl === undefined) {
    const { startEmbeddedPostgres } = await import('#src/embedded/postgres.ts');
    const instance = await startEmbeddedPostgres({ home: config.home, onProgress });
    started.defer(() => instance.stop());
    databaseUrl = instance.databaseUrl;
    lost = instance.lost.then(() => 'the embedded Postgres ended');
  }
  for (const warning of plainConnectionWarnings(databaseUrl, config.redisUrl)) logger.warn(warning);
  await migrateAll(config, databaseUrl, logger);
  await checkDatabase(config, databaseUrl, logger);
  await beforeRoles(databaseUrl);
  const roles: FleetPart[] = [];
  const fault = () =>
    roles.length === 0 ? STARTING : roles.map((role) => role.fault?.()).find((text) => text !== undefined);
  const metrics = await startMetrics(config, databaseUrl, logger, {
    role: 'up',
    fault,
    pools: () => roles.map(({ sql }) => sql),
  });
  started.defer(() => metrics.stop());
  for (const start of [startWorker, startApi, startMedia, startConsole, startKycDesk]) {
    const role = await start(config, databaseUrl, logger);
    started.defer(() => role.stop());
    roles.push(role);
  }
  const all = started.move();
  return { databaseUrl, roles, metrics: metrics.address, stop: () => all.disposeAsync(), lost };
};
