/** The operator API for the tests of one file, with the database roles that it has in a fleet. */
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { buildApi } from '#src/api/app.ts';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';
import type { Platform } from '#src/operations/operation.ts';
import { KeyError } from '#src/sealing/errors.ts';
import { post } from '#test/support/api.ts';
import { useTestConsole } from '#test/support/console.ts';
import { addToken } from '#test/support/factories.ts';
import { openAs } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

export const useOperatorApi = (given: Partial<Platform> = {}) => {
  const database = useTestDatabase();
  const served = useTestConsole(database);
  const logged: string[] = [];
  let url = '';
  let close = async () => {};
  beforeAll(async () => {
    const [own, operators] = [
      openAs('api', database.databaseUrl),
      openAs('operator_api', database.databaseUrl),
    ];
    const app = await buildApi({
      sql: own,
      auditTimeZone: 'UTC',
      logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
      ready: async () => {},
      rateLimit: { max: 1_000_000, timeWindowMs: 60_000 },
      operator: {
        sql: operators,
        fourEyes: FOUR_EYES_BY_DEFAULT,
        keepsPictures: false,
        producer: async () => served.producer,
        keys: () => Promise.reject(new KeyError('no_key', 'This API has no key.')),
        ...given,
      },
    });
    url = await app.listen({ host: '127.0.0.1', port: 0 });
    close = async () => {
      await app.close();
      await own.end({ timeout: 1 });
      await operators.end({ timeout: 1 });
    };
  });
  afterAll(() => close());
  return {
    database,
    served,
    logged,
    get url() {
      return url;
    },
    /** A token of an operator, who is added with these roles unless there is one, and is not new to the others. */
    addToken: async (login: string, ...roles: Role[]) => {
      const made = await addToken(database.sql, null, null, { login, roles });
      await database.sql`update operators set counts_at = created_at where login = ${login}`;
      return made;
    },
    /** Calls the endpoint of an operation or a list. */
    call: (token: string, name: string, body: unknown = {}) => {
      const path = ENDPOINTS.find((endpoint) => endpoint.name === name)?.path;
      if (path === undefined) throw new Error(`there is no endpoint ${name}`);
      return post(url, path, token, body);
    },
  };
};
