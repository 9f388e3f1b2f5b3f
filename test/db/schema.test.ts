import { readdir, readFile } from 'node:fs/promises';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { expect, test } from 'vitest';
import { dumpSchema } from '#test/db/dump-schema.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const DB = new URL('../../db/', import.meta.url);
const database = useTestDatabase();

test('db/schema.sql is the database that the migrations make', async () => {
  const { tables, rest } = await dumpSchema(database.sql);
  const written = await readFile(new URL('schema.sql', DB), 'utf8');
  expect(tables + rest, 'write db/schema.sql again: npm run db:schema').toBe(written);
});

test('db/schema describes no table, column or index that the migrations lack', async () => {
  const meta = new URL('migrations/meta/', DB);
  const newest = (await readdir(meta)).filter((file) => file.endsWith('_snapshot.json')).sort();
  const snapshot = JSON.parse(await readFile(new URL(newest.at(-1) ?? '', meta), 'utf8'));
  const files = await readdir(new URL('schema/', DB));
  const modules = await Promise.all(files.map((file) => import(new URL(`schema/${file}`, DB).href)));
  const described = generateDrizzleJson(Object.assign({}, ...modules));
  expect(await generateMigration(snapshot, described), 'add a migration: npm run db:generate').toEqual([]);
});

test('no table that is not logged refers to another one: each new row would lock a row there, and locks are logged', async () => {
  const rows = await database.sql`
    select conrelid::regclass::text as table, conname from pg_constraint
    where contype = 'f' and conrelid in (select oid from pg_class where relpersistence = 'u')`;
  expect(rows).toEqual([]);
});
