import { loadGames, withDatabase } from '#test/bench/api-database.ts';
import { measureHttp } from '#test/bench/api-http.ts';
import { measurePages } from '#test/bench/api-pages.ts';
import type { Row } from '#test/bench/report.ts';

/** The platform's own operations: a page's query alone, and both operations over HTTP beside a bare route. */
export const measurePlatform = async (games: number): Promise<Row[]> => {
  const rows: Row[] = [];
  await withDatabase(async (sql, databaseUrl) => {
    await loadGames(sql, games);
    rows.push(...(await measurePages(databaseUrl)), ...(await measureHttp(databaseUrl, games)));
  });
  return rows;
};
