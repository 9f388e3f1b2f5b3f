import type { Logger } from 'pino';
import { type Config, embeddedConfig } from '#src/config.ts';
import { startApi } from '#src/processes/api.ts';
import { startConsole } from '#src/processes/console.ts';
import { startKycDesk } from '#src/processes/kyc-desk.ts';
import { startMedia } from '#src/processes/media.ts';
import { migrateAll } from '#src/processes/migrate.ts';
import { type RunningParts, startParts } from '#src/processes/start-parts.ts';
import { startWorker } from '#src/processes/worker.ts';

export type Everything = RunningParts & {
  databaseUrl: string;
  /** Resolves with a reason when the embedded Postgres ends. */
  lost: Promise<string>;
};

const PARTS = [startWorker, startApi, startMedia, startConsole, startKycDesk];

/**
 * Starts worker, API, media, console and KYC desk in one process, on `DATABASE_URL` or, without it, on the embedded
 * Postgres of this directory. Migrates the database first.
 * @param beforeParts called after the migration. Overdue jobs, which run when the parts start, read what it writes
 */
export const startEverything = async (
  given: Config,
  logger: Logger,
  onProgress: (message: string) => void,
  beforeParts: (databaseUrl: string) => Promise<void>,
): Promise<Everything> => {
  const config = embeddedConfig(given);
  await using started = new AsyncDisposableStack();
  let databaseUrl = config.databaseUrl;
  let lost = new Promise<string>(() => {});
  if (databaseUrl === undefined) {
    const { startEmbeddedPostgres } = await import('#src/embedded/postgres.ts');
    const instance = await startEmbeddedPostgres({ home: config.home, onProgress });
    started.defer(() => instance.stop());
    databaseUrl = instance.databaseUrl;
    lost = instance.lost;
  }
  await migrateAll(config, databaseUrl, logger, (note) => logger.info(note));
  await beforeParts(databaseUrl);
  const running = await startParts('up', PARTS, config, databaseUrl, logger);
  started.defer(() => running.stop());
  const all = started.move();
  return { ...running, databaseUrl, lost, stop: () => all.disposeAsync() };
};
