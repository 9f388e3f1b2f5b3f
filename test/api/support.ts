import { randomUUIDv7 } from 'node:crypto';
import { pino } from 'pino';
import { type Database, openDatabase, type Queryable } from '#db/client.ts';
import { type CataloguePage, type PageAsked, selectCataloguePages } from '#db/queries/api-games.ts';
import { type FetchedGame, upsertGames } from '#db/queries/games.ts';
import { insertToken } from '#db/queries/tokens.ts';
import { installTriggers } from '#db/triggers.ts';
import { createAccessToken, hashAccessToken } from '#src/api/api-token.ts';
import { type ApiOptions, buildApi } from '#src/api/app.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';

export type TestApi = {
  sql: Database;
  lane: Database;
  databaseUrl: string;
  url: string;
  /** What was logged, one JSON object a line. */
  logged: string[];
  close(): Promise<void>;
};

/** The API on a socket, over a database of its own. */
export const startApi = async (options: Partial<ApiOptions> = {}): Promise<TestApi> => {
  const database = await createTestDatabase();
  const sql = openDatabase(database.databaseUrl, { max: 4, applicationName: 'api test' });
  const lane = openDatabase(database.databaseUrl, { max: 1, applicationName: 'api test' });
  await installTriggers(sql);
  const logged: string[] = [];
  const app = await buildApi({
    sql,
    lane,
    auditTimeZone: 'UTC',
    logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
    ready: async () => {},
    ...options,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    sql,
    lane,
    databaseUrl: database.databaseUrl,
    url,
    logged,
    close: async () => {
      await app.close();
      // A bound: the driver waits for ever for a connection that the server ended.
      await Promise.all([sql.end({ timeout: 1 }), lane.end({ timeout: 1 })]);
      await database.drop();
    },
  };
};

/** One page, read by itself. */
export const selectPage = async (sql: Queryable, asked: PageAsked): Promise<CataloguePage> => {
  const [page] = await selectCataloguePages(sql, [asked]);
  if (page === undefined) throw new Error('no page came back');
  return page;
};

export const addApplication = async (sql: Database, application_id: string): Promise<void> => {
  await sql`
    insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
      query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
    values (${application_id}, ${application_id}, '', '', '', 1, 1, 1, 1, 1)`;
};

/** A token of this application, or with null an operator's. */
export const addToken = async (
  sql: Database,
  application_id: string | null,
  expires_at: Date | null = null,
): Promise<{ token: string; token_id: string }> => {
  const token = createAccessToken();
  const token_id = randomUUIDv7();
  await insertToken(sql, {
    token_id,
    token_hash: hashAccessToken(token),
    application_id,
    name: 'test',
    expires_at,
  });
  return { token, token_id };
};

export const fetchedGame = (
  application_game_id: string,
  changes: Partial<FetchedGame> = {},
): FetchedGame => ({
  game_id: randomUUIDv7(),
  application_game_id,
  game_name: `Game ${application_game_id}`,
  game_icon: [],
  game_desc: '',
  game_store_video: '',
  game_store_pic: [],
  content_hash: application_game_id,
  list_hash: '',
  fetched_at: new Date(),
  ...changes,
});

/** Puts games in as a run does. @returns their game_ids, ascending */
export const addGames = async (sql: Database, application_id: string, count: number): Promise<string[]> => {
  const games = Array.from({ length: count }, () => fetchedGame(randomUUIDv7()));
  await upsertGames(sql, application_id, games);
  return games.map((game) => game.game_id).sort();
};

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is what the tests look at
export type Answer = { status: number; headers: Headers; body: any };

/** POST a JSON body with a token, as sections 4 and 5 ask. */
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
