import type { Queryable } from '#db/client.ts';
import { readApplied, readJournal } from '#db/migrations.ts';
import { CatalogueError } from '#src/errors.ts';

/** Counts the migrations that the database and this version do not share. */
const compare = async (sql: Queryable): Promise<{ unknown: number; missing: number }> => {
  const [journal, applied] = await Promise.all([readJournal(), readApplied(sql)]);
  const known = new Set(journal.map(({ when }) => when));
  return { unknown: applied.difference(known).size, missing: known.difference(applied).size };
};

/**
 * Refuses a database that a newer version migrated, because migrations cannot be undone.
 * @throws CatalogueError that says what to do
 */
export const refuseNewerSchema = async (sql: Queryable): Promise<void> => {
  const { unknown } = await compare(sql);
  if (unknown === 0) return;
  throw new CatalogueError(
    `The database was migrated by a newer version than this one (it has ${unknown} ${unknown === 1 ? 'migration' : 'migrations'} that this version does not know): run the version that migrated it, or restore the backup from before.`,
  );
};

/**
 * Refuses a database that is newer or older than this version. Each process of a fleet calls it at start.
 * @throws CatalogueError that says what to do
 */
export const requireCurrentSchema = async (sql: Queryable): Promise<void> => {
  await refuseNewerSchema(sql);
  if ((await compare(sql)).missing === 0) return;
  throw new CatalogueError(
    'The database is older than this version: bring it up to date with npx catalogue migrate.',
  );
};
