import type { Database } from '#db/client.ts';
import { buildConsole } from '#src/console/app.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { serveSite } from '#test/support/site.ts';

/** Serves the console over this database, until the stack is disposed. @returns its address */
export const serveConsole = async (
  sql: Database,
  databaseUrl: string,
  stack: AsyncDisposableStack,
): Promise<string> => {
  const place = { sql, databaseUrl, redisUrl: undefined, prefix: '{bench}' };
  // As `catalogue migrate` does where the queue is in Postgres too.
  const backend = openQueueBackend({ ...place, use: 'producer', onError: () => {} });
  await backend.migrate(jobSpecs.map(({ name }) => name)).finally(() => backend.close());
  const { url, stop } = await serveSite(place, buildConsole);
  stack.defer(stop);
  return url;
};
