import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import { commandLineCaller } from '#src/cli/kit/actor.ts';
import type { Output } from '#src/cli/kit/output.ts';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import type { Planned } from '#src/operations/operate.ts';
import type { Given, Operation, Platform } from '#src/operations/operation.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

const CONNECTIONS = 4;
const CLOSE_TIMEOUT_S = 2;

/** Given to every command. Connections open on demand and close when the command ends. */
export type CommandContext = {
  config: Config;
  /** The words of the command line. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Where pictures are; without a fleet, those of the embedded default. */
  pictures: Config['pictures'];
  out: Output;
  openDatabase: () => Promise<Database>;
  /** Opens the database and the queues. Throws if a server is unreachable. */
  openQueues: () => Promise<Foundation>;
  openKeys: () => Promise<KeyRing>;
  /** Runs an operation. */
  operate: <Schema extends z.ZodType, Result, Final>(
    operation: Operation<Schema, Result, Final>,
    given: Given<Schema>,
    options?: OperateOptions,
  ) => Promise<Final>;
  /** Runs operations in one transaction. */
  operateAll: (planned: readonly Planned[]) => Promise<void>;
};

type OperateOptions = Pick<Platform, 'signal' | 'onProgress'> & {
  /** The name that `--by` claims; absent: CATALOGUE_OPERATOR, or the user of the operating system. */
  by?: string | undefined;
};

/**
 * @param configs `config` is `shared` with the database URL of the role of operators
 * @param resources closes the connections
 */
export const createContext = (
  { shared, config }: { shared: Config; config: Config },
  { argv, env }: Pick<CommandContext, 'argv' | 'env'>,
  out: Output,
  resources: AsyncDisposableStack,
): CommandContext => {
  // Two commands have different names, so each knows its own sessions.
  const name = `cli ${randomBytes(4).toString('hex')}`;
  const findDatabase = once(async () => {
    const databaseUrl = await findDatabaseUrl(config);
    const { noteBlockers } = await import('#src/cli/kit/note-blockers.ts');
    resources.use(noteBlockers(databaseUrl, [`catalogue ${name}`], out.note));
    return databaseUrl;
  });
  const openDatabase = once(async () => {
    const { openDatabase, STATEMENT_MS } = await import('#db/client.ts');
    const sql = openDatabase(await findDatabase(), {
      max: CONNECTIONS,
      applicationName: `catalogue ${name}`,
      statementMs: STATEMENT_MS.long,
    });
    resources.defer(() => sql.end({ timeout: CLOSE_TIMEOUT_S }));
    return sql;
  });
  const openQueues = once(async () => {
    const foundation = resources.use(await openProducer(config, await findDatabase(), name));
    // BullMQ's errors do not name the cause of a failed connection; those of these two calls do.
    await foundation.sql`select 1`;
    await foundation.backend.ping();
    return foundation;
  });
  const openKeys = once(async () => (await import('#src/sealing/key-ring.ts')).openKeyRing(config));
  const openPlatform = async (following: Partial<Platform>): Promise<Platform> => ({
    sql: await openDatabase(),
    fourEyes: config.fourEyes,
    keepsPictures: config.pictures.store !== undefined,
    producer: async () => (await openQueues()).producer,
    keys: openKeys,
    ...following,
  });
  return {
    config: shared,
    argv,
    env,
    pictures: config.pictures,
    out,
    openDatabase,
    openQueues,
    openKeys,
    operate: async (operation, given, { by, ...following } = {}) => {
      const { checkInput, operate } = await import('#src/operations/operate.ts');
      // A wrong option is named even if the database is unreachable.
      checkInput(operation.input, given);
      return operate(
        operation,
        given,
        commandLineCaller(by ?? config.operator),
        await openPlatform(following),
      );
    },
    operateAll: async (planned) => {
      const { operateAll } = await import('#src/operations/operate.ts');
      await operateAll(planned, commandLineCaller(config.operator), await openPlatform({}));
    },
  };
};

/** Opens at the first call. */
const once = <Opened>(open: () => Promise<Opened>): (() => Promise<Opened>) => {
  let opened: Promise<Opened> | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
};

/** Connections for a process that adds jobs and runs none. It logs nothing, because the command prints its errors. */
export const openProducer = async (config: Config, url: string, name: string): Promise<Foundation> => {
  const { openFoundation } = await import('#src/processes/foundation.ts');
  const { createLogger } = await import('#src/logger.ts');
  const logger = createLogger('silent', { pretty: false, process: name });
  return openFoundation(config, url, { use: 'producer', name, maxConnections: CONNECTIONS, logger });
};

/**
 * The URL of the database: `DATABASE_URL_OPERATOR`, `DATABASE_URL`, or the embedded Postgres of this directory if it
 * runs.
 * @throws UsageError when there is neither
 */
export const findDatabaseUrl = async (config: Config): Promise<string> => {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const { findRunningInstance } = await import('#src/embedded/postgres.ts');
  const databaseUrl = await findRunningInstance(config.home);
  if (databaseUrl !== null) return databaseUrl;
  throw new UsageError(
    `No embedded Postgres runs in ${config.home}: start it with npx catalogue up (or npm run demo), or set DATABASE_URL_OPERATOR, or DATABASE_URL, to use the database of a fleet.`,
  );
};
