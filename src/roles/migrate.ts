import type { Logger } from 'pino';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { setReviewTarget } from '#db/queries/lane-counts.ts';
import { setNeedsVerdict } from '#db/queries/verdicts.ts';
import type { Config } from '#src/config.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openFoundation } from '#src/roles/foundation.ts';

/**
 * Migrates the tables of the catalogue, then the schema of the queue if it is in Postgres, and grants each role its
 * rights. Writes the rules of decisions that hold for every process.
 * @returns how many migrations were applied, and what the administrator must do before processes can use roles of their own
 */
export const migrateAll = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
): Promise<{ applied: number; notes: string[] }> => {
  const applied = await migrateDatabase(databaseUrl);
  await using foundation = openFoundation(config, databaseUrl, {
    role: 'producer',
    name: 'migrate',
    maxConnections: 1,
    logger,
  });
  await foundation.backend.migrate(jobSpecs.map(({ name }) => name));
  const sql = openDatabase(databaseUrl, { max: 1, applicationName: 'catalogue migrate' });
  try {
    await setNeedsVerdict(sql, config.gamesNeedVerdict);
    await setReviewTarget(sql, config.reviewTargetMs);
    return { applied, notes: await grantRoles(sql, config.databaseUrls) };
  } finally {
    await sql.end({ timeout: 0 });
  }
};
