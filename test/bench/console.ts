import type { Database } from '#db/client.ts';
import { buildConsole } from '#src/console/app.ts';
import { serveSite } from '#test/support/site.ts';

/** Serves the console over this database, until the stack is disposed. @returns its address */
export const serveConsole = async (
  sql: Database,
  databaseUrl: string,
  stack: AsyncDisposableStack,
): Promise<string> => {
  const place = { sql, databaseUrl, redisUrl: undefined, prefix: '{bench}' };
  const { url, stop } = await serveSite(place, buildConsole);
  stack.defer(stop);
  return url;
};
