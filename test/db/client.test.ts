import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';

it('a pool lets go of connections that have nothing to do, but not of those that hold a lock', async () => {
  // No connection is made before the first statement.
  const url = 'postgres://127.0.0.1:9/nowhere';
  const [pool, lock] = [openDatabase(url), openDatabase(url, { keepOpen: true })];
  expect(pool.options).toMatchObject({ idle_timeout: 60, max_lifetime: expect.anything() });
  expect(lock.options).toMatchObject({ idle_timeout: 0, max_lifetime: 0 });
  await Promise.all([pool.end(), lock.end()]);
});

it('no session compiles its statements', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 1 });
  expect(await sql`show jit`).toEqual([{ jit: 'off' }]);
  await sql.end();
  await drop();
});

it('moments and bytes are read as they were written, whatever the database has for a default', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const admin = openDatabase(databaseUrl, { max: 1 });
  const name = new URL(databaseUrl).pathname.slice(1);
  await admin`alter database ${admin(name)} set datestyle = 'SQL, DMY'`;
  await admin`alter database ${admin(name)} set bytea_output = 'escape'`;
  await admin.end();
  const sql = openDatabase(databaseUrl, { max: 1 });
  const [at, bytes] = [new Date('2026-11-03T04:05:06.789Z'), Buffer.from([0, 92, 200, 65])];
  const [row] = await sql`select ${at}::timestamptz as at, ${bytes}::bytea as bytes`;
  expect({ ...row, bytes: Buffer.from(row?.bytes) }).toEqual({ at, bytes });
  await sql.end();
  await drop();
});
