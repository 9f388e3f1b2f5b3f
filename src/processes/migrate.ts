import type { Logger } from 'pino';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { type DecisionRules, readDecisionRules, setDecisionRules } from '#db/queries/decision-rules.ts';
import type { Config } from '#src/config.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openFoundation } from '#src/processes/foundation.ts';

/**
 * Migrates the tables of the catalogue, then the schema of the queue if it is in Postgres, and grants each role its
 * rights. Writes the rules of decisions that hold for every process.
 * @param onNote receives what the administrator must do so that processes can use roles of their own, in sentences. They come
 * before Redis is checked, because the next call does not repeat which passwords this one replaced
 * @returns how many migrations were applied, and the rules of decisions as they are now
 */
export const migrateAll = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  onNote: (note: string) => void,
): Promise<{ applied: number; rules: DecisionRules }> => {
  const applied = await migrateDatabase(databaseUrl);
  await using foundation = openFoundation(config, databaseUrl, {
    use: 'producer',
    name: 'migrate',
    maxConnections: 1,
    logger,
  });
  const { sql, backend } = foundation;
  await backend.migrate(jobSpecs.map(({ name }) => name));
  await setDecisionRules(sql, config.decisionRules);
  for (const note of await grantRoles(sql, config.databaseUrls)) onNote(note);
  // Last, so that the database is complete even if Redis is down.
  await backend.check();
  return { applied, rules: await readDecisionRules(sql) };
};
