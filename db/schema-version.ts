import { readFile } from 'node:fs/promises';
import type { Queryable } from '#db/client.ts';
import { isPostgresError, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { CatalogueError, coerceError } from '#src/errors.ts';

const JOURNAL = new URL('./migrations/meta/_journal.json', import.meta.url);

/** Migrations are told apart by the moment they were generated, which is what drizzle records of them. */
const readKnown = async (): Promise<Set<number>> => {
  const journal: { entries: { when: number }[] } = JSON.parse(await readFile(JOURNAL, 'utf8'));
  return new Set(journal.entries.map(({ when }) => when));
};

const readApplied = async (sql: Queryable): Promise<Set<number>> => {
  try {
    const rows = await sql<{ created_at: number }[]>`
      select created_at::float8 as created_at from drizzle.__drizzle_migrations`;
    return new Set(rows.map(({ created_at }) => created_at));
  } catch (error) {
    if (isPostgresError(coerceError(error), UNDEFINED_TABLE)) return new Set();
    throw error;
  }
};

/** They come after the migrations: a `migrate` that was killed in between has to be run again. */
const hasTriggers = async (sql: Queryable): Promise<boolean> => {
  const rows = await sql`
    select from pg_trigger where tgrelid = to_regclass('games') and tgname = 'games_count_insert'`;
  return rows.length === 1;
};

/**
 * Refuse a database that was migrated by a newer version than this one: there is no way back but a backup.
 * @throws CatalogueError that says what to do
 */
export const refuseNewerSchema = async (sql: Queryable): Promise<void> => {
  const [known, applied] = await Promise.all([readKnown(), readApplied(sql)]);
  const strange = applied.difference(known).size;
  if (strange === 0) return;
  throw new CatalogueError(
    `The database was migrated by a newer version than this one (it has ${strange} ${strange === 1 ? 'migration' : 'migrations'} that this version does not know): run the version that migrated it, or restore the backup from before.`,
  );
};

/**
 * Refuse a database that is newer or older than this version: called by each role of a fleet as it starts.
 * @throws CatalogueError that says what to do
 */
export const requireCurrentSchema = async (sql: Queryable): Promise<void> => {
  await refuseNewerSchema(sql);
  const [known, applied] = await Promise.all([readKnown(), readApplied(sql)]);
  if (known.difference(applied).size === 0 && (await hasTriggers(sql))) return;
  throw new CatalogueError(
    'The database is older than this version, or was not brought up to date to the end: bring it up to date with npx catalogue migrate.',
  );
};
