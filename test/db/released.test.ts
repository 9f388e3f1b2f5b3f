import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { recountGames } from '#db/queries/api-games.ts';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import { findSendingAddress, type SealedEventWebhook } from '#db/queries/event-webhooks.ts';
import { findKycRecord, type KycRecordRow } from '#db/queries/kyc.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import { openEventSecrets } from '#src/sealing/event-secret.ts';
import { dumpSchema } from '#test/db/dump-schema.ts';
import { APPLICATION, RECORD } from '#test/db/released-rows.ts';
import { ACCESS_TOKEN, testKeys } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const FOLDER = new URL('./released/', import.meta.url);
const read = (file: string, folder = FOLDER): string => readFileSync(new URL(file, folder), 'utf8');

type Rows = Record<string, object[]>;

// docs/operate.md, "Upgrade": each release from 1.0.0 on can be upgraded to this version.
describe.each(readdirSync(FOLDER))('the database of a release, %s, once it is migrated', (dump) => {
  const database = useTestDatabase();
  let before: Rows;

  const readRows = async (): Promise<Rows> => {
    const { sql } = database;
    const rows: Rows = {};
    const tables = await sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public'`;
    for (const { name } of tables)
      rows[name] = (await sql`select row_to_json(t) as row from ${sql(name)} t`).map(({ row }) => row);
    return rows;
  };

  beforeAll(async () => {
    const { sql, databaseUrl } = database;
    await sql.unsafe('drop schema public cascade; drop schema drizzle cascade; create schema public');
    await sql.unsafe(`set check_function_bodies = off; ${read(dump)}`);
    before = await readRows();
    await migrateDatabase(databaseUrl);
    await grantRoles(sql, {});
  });

  test('had rows in every table', () => {
    const empty = Object.entries(before).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([table]) => table)).toEqual([]);
  });

  test('has every row', async () => {
    const after = await readRows();
    for (const [table, rows] of Object.entries(before)) {
      const kept = rows.map((row) => expect.objectContaining(row));
      expect({ table, rows: after[table] }).toEqual({ table, rows: expect.arrayContaining(kept) });
    }
  });

  test('is the one of db/schema.sql', async () => {
    const { tables, rest } = await dumpSchema(database.sql);
    expect(tables + rest).toBe(read('../../../db/schema.sql'));
  });

  test('has right counters and a whole audit log', async () => {
    expect(await recountGames(database.sql, { repair: false })).toEqual([]);
    expect(await verifyAudit(database.sql)).toMatchObject({ broken: null });
  });

  test('has an access token, a KYC record and an event secret that open', async () => {
    const { sql } = database;
    const application = (await findApplication(sql, APPLICATION)) as ApplicationRow;
    expect(await openAccessToken(testKeys, application)).toBe(ACCESS_TOKEN);
    const { cp_id: _, ...fields } = RECORD;
    expect(await openKycRecord(testKeys, (await findKycRecord(sql, APPLICATION)) as KycRecordRow)).toEqual(
      fields,
    );
    const address = (await findSendingAddress(sql, APPLICATION)) as SealedEventWebhook;
    expect(await openEventSecrets(testKeys, address)).toEqual([expect.stringMatching(/^whsec_/)]);
  });
});
