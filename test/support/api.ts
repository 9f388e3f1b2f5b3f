import { pino } from 'pino';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { type ApiOptions, buildApi } from '#src/api/app.ts';
import { stopListening } from '#src/processes/listen.ts';
import { addApplication, addGames, addToken } from '#test/support/factories.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { openAs } from '#test/support/roles.ts';

export type TestApi = {
  sql: Database;
  /** The API's own pool, with the rights of its role. */
  own: Database;
  databaseUrl: string;
  url: string;
  /** Log lines, one JSON object each. */
  logged: string[];
  close(): Promise<void>;
};

/** Starts the API on a socket, with its own database. */
export const startApi = async (options: Partial<ApiOptions> = {}): Promise<TestApi> => {
  const database = await createTestDatabase();
  const sql = openDatabase(database.databaseUrl, { max: 4, applicationName: 'api test' });
  const own = openAs('api', database.databaseUrl, 4);
  const logged: string[] = [];
  const app = await buildApi({
    sql: own,
    auditTimeZone: 'UTC',
    logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
    ready: async () => {},
    ...options,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    sql,
    own,
    databaseUrl: database.databaseUrl,
    url,
    logged,
    close: async () => {
      await stopListening(app);
      // Without a timeout the driver waits forever for a connection that the server ended.
      await own.end({ timeout: 1 });
      await sql.end({ timeout: 1 });
      await database.drop();
    },
  };
};

/** An API for the tests of one file: started before them, closed after them. It is empty until then. */
export const useTestApi = (options: Partial<ApiOptions> = {}): TestApi => {
  const api = {} as TestApi;
  beforeAll(async () => void Object.assign(api, await startApi(options)));
  afterAll(() => api.close?.());
  return api;
};

/** The same with a token of an operator, and helpers that call it. */
export const useApi = (options: Partial<ApiOptions> = {}) => {
  const api = useTestApi(options);
  let operatorToken: string;
  beforeAll(async () => {
    operatorToken = (await addToken(api.sql, null)).token;
  });
  let applications = 0;
  return {
    api,
    get operatorToken() {
      return operatorToken;
    },
    /** Calls a path as an operator; see `callApi`. */
    call: (path: string, init: ApiCall = {}) => callApi(api.url + path, operatorToken, init),
    /** Adds an application with pending games, for one test. */
    addApplicationWithGames: async (count: number) => {
      applications += 1;
      const application_id = `app-${applications}`;
      await addApplication(api.sql, application_id);
      const { token } = await addToken(api.sql, application_id);
      return { application_id, token, game_ids: await addGames(api.sql, application_id, count) };
    },
  };
};

// biome-ignore lint/suspicious/noExplicitAny: the tests check the body as it was sent
export type Answer = { status: number; headers: Headers; body: any };

/** POST a JSON body with a token, as sections 4 and 5 require. */
export const post = async (
  url: string,
  path: string,
  token: string | null,
  body: unknown,
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

export const LIST = '/open-api/game/list-by-audit-status';
export const DETAIL = '/open-api/game/query-detail';

export const JSON_TYPE = 'application/json; charset=utf-8';

export type ApiCall = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

/** POSTs a list of pending games, unless `init` says otherwise. */
export const callApi = (url: string, token: string, init: ApiCall) =>
  fetch(url, {
    method: 'POST',
    body: '{"audit_status":"pending"}',
    ...init,
    headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${token}`, ...init.headers },
  });

/** Expects an envelope without data, and its codes. @returns the envelope */
export const expectFailure = async (response: Response, status: number, ret_code: number) => {
  const body = (await response.json()) as { ret_code: number; ret_msg: string; data: unknown };
  expect([response.status, body.ret_code]).toEqual([status, ret_code]);
  expect(response.headers.get('content-type')).toBe(JSON_TYPE);
  expect(Object.keys(body)).toEqual(['ret_code', 'ret_msg', 'data']);
  expect(body.data).toBeNull();
  expect(body.ret_msg).toMatch(/\S/);
  return body;
};
