import type { Logger } from 'pino';
import { migrateDatabase } from '#db/migrate.ts';
import type { Config } from '#src/config.ts';
import { openFoundation } from '#src/roles/foundation.ts';

/** Bring the catalogue's tables and the queue's schema up to date. */
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
