import type { Logger } from 'pino';
import { STATEMENT_MS } from '#db/client.ts';
import { buildApi } from '#src/api/app.ts';
import { PICTURES_PATH } from '#src/api/pictures.ts';
import type { Config } from '#src/config.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { listen, stopListening } from '#src/roles/listen.ts';
import type { Role } from '#src/roles/role.ts';

const DATABASE_CONNECTIONS = 20;

/** Starts the API of the platform (interface document, group A). @throws UsageError if it cannot listen */
export const startApi = async (config: Config, databaseUrl: string, logger: Logger): Promise<Role> => {
  const { host, port } = config.api;
  const { store, publicUrl, isServedHere } = config.pictures;
  let pictureUrl = publicUrl;
  await using started = new AsyncDisposableStack();
  const { sql, backend } = started.use(
    openFoundation(config, databaseUrl, {
      role: 'producer',
      name: 'api',
      maxConnections: DATABASE_CONNECTIONS,
      planOnce: true,
      statementMs: STATEMENT_MS.api,
      specs: [],
      logger,
    }),
  );
  const ready = async (what: 'all' | 'database'): Promise<void> => {
    await Promise.all([sql`select 1`, ...(what === 'all' ? [backend.ping()] : [])]);
  };
  const api = await buildApi({
    sql,
    auditTimeZone: config.auditTimeZone,
    pictures: { url: () => pictureUrl, directory: store?.kind === 'file' ? store.directory : undefined },
    redis: backend.redis,
    logger,
    ready,
  });
  started.defer(() => stopListening(api));
  const address = await listen(api, host, port, 'API_PORT');
  if (isServedHere) pictureUrl = `${address}${PICTURES_PATH}`;
  const all = started.move();
  return { name: 'api', address, stop: () => all.disposeAsync() };
};
