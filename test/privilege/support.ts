import { beforeAll, expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { DATABASE_ROLES, type DatabaseRole } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** What somebody can do who has the login of a process and nothing else: each statement runs with that login. */
export const useStolenLogins = () => {
  const database = useTestDatabase();
  const logins = {} as Record<DatabaseRole, Database>;
  beforeAll(() => {
    for (const role of DATABASE_ROLES) logins[role] = database.as(role);
  });

  /**
   * Runs a statement with this login.
   * @param keep false: nothing stays of it
   * @returns the rows it wrote, or `refused` if the login has no right to it
   */
  const attempt = async (role: DatabaseRole, statement: string, keep = true): Promise<number | 'refused'> => {
    const undo = new Error('undone');
    let rows = 0;
    try {
      await logins[role].begin(async (tx) => {
        rows = (await tx.unsafe(statement)).count;
        if (!keep) throw undo;
      });
      return rows;
    } catch (error) {
      if (error === undo) return rows;
      const { code, message } = error as { code?: string; message: string };
      expect({ statement, code, message }).toMatchObject({ statement, code: INSUFFICIENT_PRIVILEGE });
      return 'refused';
    }
  };
  return {
    database,
    attempt,
    /** Each of these statements is refused to the login. */
    expectRefused: async (role: DatabaseRole, statements: readonly string[]): Promise<void> => {
      const results = [];
      for (const statement of statements) results.push([statement, await attempt(role, statement)]);
      expect(results).toEqual(statements.map((statement) => [statement, 'refused']));
    },
  };
};
