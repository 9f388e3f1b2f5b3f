import { afterAll, beforeAll } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import type { DatabaseRole } from '#db/roles.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/postgres-server.ts';
import { openAs } from '#test/support/roles.ts';

type UsedDatabase = {
  /** Its owner's pool. */
  readonly sql: Database;
  readonly databaseUrl: string;
  /** A pool with the rights of a process. */
  readonly as: (role: DatabaseRole) => Database;
};

/** A database for the tests of one file or `describe`: created before them, dropped after them. */
export const useTestDatabase = (): UsedDatabase => {
  let database: TestDatabase;
  let sql: Database;
  const pools: Database[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    sql = openDatabase(database.databaseUrl, { max: 6, applicationName: 'database test' });
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await sql.end();
    await database.drop();
  });
  return {
    get sql() {
      return sql;
    },
    get databaseUrl() {
      return database.databaseUrl;
    },
    as: (role) => {
      const pool = openAs(role, database.databaseUrl);
      pools.push(pool);
      return pool;
    },
  };
};
