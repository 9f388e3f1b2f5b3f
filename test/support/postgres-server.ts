import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import type { Database } from '#db/client.ts';
import { asAdmin } from '#test/support/as-admin.ts';

export type TestDatabase = {
  databaseUrl: string;
  /** Drops the database. Throws when a session is still open in it. */
  drop(): Promise<void>;
};

/** Pools close their connections up to this time after `end()` returns. */
const SESSIONS_END_WITHIN_MS = 2_000;
const POLL_MS = 20;

/** Creates a migrated database: a clone of the template of the run. */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const adminUrl = inject('adminDatabaseUrl');
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create database ${name} ${inject('templateClause')}`));
  const url = new URL(adminUrl);
  url.pathname = name;
  return { databaseUrl: url.href, drop: () => asAdmin(adminUrl, (sql) => dropDatabase(sql, name)) };
};

const dropDatabase = async (sql: Database, name: string): Promise<void> => {
  const leaked = await sessionsThatStay(sql, name);
  await sql`drop database ${sql(name)} with (force)`;
  if (leaked.length > 0) {
    throw new Error(
      `${leaked.length} sessions were left open in the test database: ${leaked.join(', ')}. Close what opened them before drop().`,
    );
  }
};

/** Each as `"application_name" (state)`. Returns an empty list as soon as there are none. */
const sessionsThatStay = async (sql: Database, name: string): Promise<string[]> => {
  const deadline = Date.now() + SESSIONS_END_WITHIN_MS;
  for (;;) {
    const sessions = await sql<{ application_name: string; state: string | null }[]>`
      select application_name, state from pg_stat_activity
      where datname = ${name} and backend_type = 'client backend'`;
    if (sessions.length === 0 || Date.now() > deadline) {
      return sessions.map((session) => `"${session.application_name}" (${session.state})`);
    }
    await delay(POLL_MS);
  }
};
