import type { Logger } from 'pino';
import { STATEMENT_MS } from '#db/client.ts';
import { buildApi } from '#src/api/app.ts';
import { PICTURES_PATH } from '#src/api/pictures.ts';
import { type Config, operatorApiUrl } from '#src/config.ts';
import type { StartPart } from '#src/processes/fleet-part.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { listen, stopListening } from '#src/processes/listen.ts';
import { probeQueue } from '#src/processes/probe-servers.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

const DATABASE_CONNECTIONS = 20;

/** The operator API has its own connections, so that long calls of operators take none of applications. */
const OPERATOR_CONNECTIONS = 10;

/**
 * The keys that seal the tokens of applications. No key of this process opens a KYC record.
 * @throws KeyError `no_key` in a fleet without ENCRYPTION_KEYS, because workers would lack the key of this machine
 */
const sealingKeys =
  ({ encryptionKeys, home, databaseUrl }: Config) =>
  async (): Promise<KeyRing> => {
    if (encryptionKeys === undefined && databaseUrl !== undefined)
      throw new KeyError(
        'no_key',
        'This API has no key to seal tokens and secrets with: use the command line, or give it ENCRYPTION_KEYS.',
      );
    const { tokens } = await openKeyRing({ encryptionKeys, home, databaseUrl });
    return { records: [], tokens };
  };

/** Opens what the operator API works with, by its own database role. */
const openOperatorPlatform = (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  started: AsyncDisposableStack,
) => {
  const { sql, producer } = started.use(
    openFoundation(config, databaseUrl, {
      use: 'producer',
      name: 'operator-api',
      maxConnections: OPERATOR_CONNECTIONS,
      logger,
    }),
  );
  return {
    sql,
    fourEyes: config.fourEyes,
    keepsPictures: config.pictures.store !== undefined,
    producer: async () => producer,
    keys: sealingKeys(config),
  };
};

/**
 * Starts the API of the platform (interface document, group A), and the operator API where it has the right of it.
 * @throws UsageError if it cannot listen
 */
export const startApi: StartPart = async (config, databaseUrl, logger) => {
  const { host, port } = config.api;
  const { store, publicUrl, isServedHere } = config.pictures;
  let pictureUrl = publicUrl;
  const operatorUrl = operatorApiUrl(config, databaseUrl);
  await using started = new AsyncDisposableStack();
  const { sql, backend } = started.use(
    openFoundation(config, databaseUrl, {
      use: 'producer',
      name: 'api',
      maxConnections: DATABASE_CONNECTIONS,
      planOnce: true,
      statementMs: STATEMENT_MS.api,
      specs: [],
      logger,
    }),
  );
  const ready = async (what: 'all' | 'database'): Promise<void> => {
    await Promise.all([sql`select 1`, ...(what === 'all' ? [probeQueue(backend)] : [])]);
  };
  const api = await buildApi({
    sql,
    auditTimeZone: config.auditTimeZone,
    pictures: { url: () => pictureUrl, directory: store?.kind === 'file' ? store.directory : undefined },
    operator:
      operatorUrl === undefined ? undefined : openOperatorPlatform(config, operatorUrl, logger, started),
    redis: backend.redis,
    logger,
    ready,
  });
  started.defer(() => stopListening(api));
  const address = await listen(api, host, port, 'API_PORT');
  if (isServedHere) pictureUrl = `${address}${PICTURES_PATH}`;
  const all = started.move();
  return { name: 'api', address, sql, stop: () => all.disposeAsync() };
};
