import { writeFile } from 'node:fs/promises';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { dumpRows, fixTimes } from '#test/db/dump-rows.ts';
import { dumpSchema } from '#test/db/dump-schema.ts';
import { useFixedRandomness } from '#test/db/fixed-randomness.ts';
import { writeReleasedRows } from '#test/db/released-rows.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);

/** An event's id as `event_uuid` makes it, but the same at each run. */
const FIXED_EVENT_IDS = `
  create sequence fixed_event_ids;
  create or replace function event_uuid() returns uuid language sql
    as $$ select ('019b7620-0000-7000-8000-' || lpad(nextval('public.fixed_event_ids')::text, 12, '0'))::uuid $$`;

/**
 * Writes db/schema.sql from a newly migrated database, and if wanted the dump of a release: the same with rows in every
 * table.
 * @param release a version such as 1.0.0
 */
export const writeDumps = async (release?: string): Promise<void> => {
  await using server = await startTemporaryPostgres();
  await migrateDatabase(server.databaseUrl);
  const sql = openDatabase(server.databaseUrl, { max: 1 });
  try {
    await grantRoles(sql, {});
    const { tables, rest } = await dumpSchema(sql);
    await writeFile(at('db/schema.sql'), tables + rest);
    if (release === undefined) return;
    await sql.unsafe(FIXED_EVENT_IDS);
    await sql`select setseed(0.5)`;
    useFixedRandomness();
    await writeReleasedRows(sql);
    await sql`drop sequence fixed_event_ids`;
    await fixTimes(sql);
    await writeFile(at(`test/db/released/${release}.sql`), tables + (await dumpRows(sql)) + rest);
  } finally {
    await sql.end();
  }
};
