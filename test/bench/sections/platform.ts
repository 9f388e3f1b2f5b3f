import { loadGames, withDatabase } from '#test/bench/api-database.ts';
import { measureHttp } from '#test/bench/api-http.ts';
import { measurePages } from '#test/bench/api-pages.ts';
import type { Row } from '#test/bench/report.ts';

/** Platform-side operations: the query of a page alone, and both operations over HTTP. */
export const measurePlatform = async (games: number): Promise<Row[]> => {
  const rows: Row[] = [];
  await withDatabase(async (sql, databaseUrl) => {
    await loadGames(sql, games);
    rows.push(...(await measurePages(databaseUrl)), ...(await measureHttp(databaseUrl, games)));
  });
  return rows;
};
