import type { Database } from '#db/client.ts';
import type { Output } from '#src/cli/kit/output.ts';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import type { Foundation } from '#src/roles/foundation.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

const CONNECTIONS = 4;
const CLOSE_TIMEOUT_S = 2;

/** Given to every command. Connections open on demand and close when the command ends. */
export type CommandContext = {
  config: Config;
  /** The words of the command line. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  out: Output;
  openDatabase: () => Promise<Database>;
  /** Opens the database and the queues. Throws if a server is unreachable. */
  openQueues: () => Promise<Foundation>;
  openKeys: () => Promise<KeyRing>;
};

/**
 * @param configs for all processes, and for this one: an operator's
 * @param resources closes the connections
 */
export const createContext = (
  { shared, config }: { shared: Config; config: Config },
  { argv, env }: Pick<CommandContext, 'argv' | 'env'>,
  out: Output,
  resources: AsyncDisposableStack,
): CommandContext => {
  return {
    config: shared,
    argv,
    env,
    out,
    openDatabase: async () => {
      const { openDatabase, STATEMENT_MS } = await import('#db/client.ts');
      const url = await findDatabaseUrl(config);
      const sql = openDatabase(url, {
        max: CONNECTIONS,
        applicationName: 'catalogue cli',
        statementMs: STATEMENT_MS.long,
      });
      resources.defer(() => sql.end({ timeout: CLOSE_TIMEOUT_S }));
      return sql;
    },
    openQueues: async () => {
      const foundation = resources.use(await openProducer(config, await findDatabaseUrl(config), 'cli'));
      // BullMQ's errors do not name the cause of a failed connection: these do.
      await foundation.sql`select 1`;
      await foundation.backend.ping();
      return foundation;
    },
    openKeys: async () => (await import('#src/sealing/key-ring.ts')).openKeyRing(config),
  };
};

/** Connections for a process that adds jobs and runs none. It logs nothing: the command prints its errors. */
export const openProducer = async (config: Config, url: string, name: string): Promise<Foundation> => {
  const { openFoundation } = await import('#src/roles/foundation.ts');
  const { createLogger } = await import('#src/logger.ts');
  const logger = createLogger('silent', { pretty: false, role: name });
  return openFoundation(config, url, { role: 'producer', name, maxConnections: CONNECTIONS, logger });
};

/**
 * The URL of the database: `DATABASE_URL`, or the embedded Postgres of this directory if it runs.
 * @throws UsageError when there is neither
 */
export const findDatabaseUrl = async (config: Config): Promise<string> => {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const { findRunningInstance } = await import('#src/embedded/postgres.ts');
  const databaseUrl = await findRunningInstance(config.home);
  if (databaseUrl !== null) return databaseUrl;
  throw new UsageError(
    `No embedded Postgres runs in ${config.home}: start it with npx catalogue up (or npm run demo), or set DATABASE_URL to use the database of a fleet.`,
  );
};
