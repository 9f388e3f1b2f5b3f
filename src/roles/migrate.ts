import type { Logger } from 'pino';
import { migrateDatabase } from '#db/migrate.ts';
import type { Config } from '#src/config.ts';
import { openFoundation } from '#src/roles/foundation.ts';

/** Migrates the tables of the catalogue, then the schema of the queue if it is in Postgres. */
export const migrateAll = async (config: Config, databaseUrl: string, logger: Logger): Promise<void> => {
  await migrateDatabase(databaseUrl);
  await using foundation = openFoundation(config, databaseUrl, {
    role: 'producer',
    name: 'migrate',
    maxConnections: 1,
    logger,
  });
  await foundation.backend.migrate();
};
