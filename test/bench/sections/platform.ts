import { loadGames, withDatabase } from '../api-database.ts';
import { measureHttp } from '../api-http.ts';
import { measurePages } from '../api-pages.ts';
import type { Row } from '../report.ts';

/** The platform's own operations: a page's query alone, and both operations over HTTP beside a bare route. */
export const measurePlatform = async (games: number): Promise<Row[]> => {
  const rows: Row[] = [];
  await withDatabase(async (sql, databaseUrl) => {
    await loadGames(sql, games);
    rows.push(...(await measurePages(databaseUrl)), ...(await measureHttp(databaseUrl, games)));
  });
  return rows;
};
