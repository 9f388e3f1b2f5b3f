import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/command.ts';
import { findDatabaseUrl } from '#src/cli/context.ts';
import { runUntilSignal } from '#src/cli/run-until-signal.ts';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { createLogger } from '#src/logger.ts';
import type { Role } from '#src/roles/role.ts';
import type { StartRole } from '#src/roles/watched.ts';

const requireDatabaseUrl = (config: Config, command: string): string => {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  throw new UsageError(
    `catalogue ${command} is one role of a fleet: set DATABASE_URL (and REDIS_URL), or run npx catalogue up for everything in one process.`,
  );
};

const createRoleLogger = (config: Config, role: string) =>
  createLogger(config.logLevel, { pretty: process.stderr.isTTY, role });

const ROLES: Record<Role['name'], () => Promise<StartRole>> = {
  worker: async () => (await import('#src/roles/worker.ts')).startWorker,
  api: async () => (await import('#src/roles/api.ts')).startApi,
  board: async () => (await import('#src/roles/board.ts')).startBoard,
};

/** The commands that run until a signal stops them (`up`, `worker`, `api`, `board`), and `migrate`. */
export const register = (program: Command): void => {
  defineCommand(program, 'up', {
    details:
      'Migrates the database first. Without DATABASE_URL, starts an embedded Postgres in CATALOGUE_HOME.',
    examples: ['up', 'up --json'],
    run: async ({ config, out }) => {
      const logger = createRoleLogger(config, 'up');
      const { startEverything } = await import('#src/roles/up.ts');
      return runUntilSignal(logger, async () => {
        const everything = await startEverything(config, logger, out.note);
        const addresses = Object.fromEntries([
          ...everything.roles.flatMap(({ name, address }) => (address === null ? [] : [[name, address]])),
          ['metrics', `${everything.metrics}/metrics`],
        ]);
        const lines = Object.entries(addresses).map(([name, address]) => `${name}  ${address}`);
        out.answer(addresses, ...lines, 'Stop with Ctrl-C.');
        return everything;
      });
    },
  });

  for (const name of ['worker', 'api', 'board'] as const) {
    defineCommand(program, name, {
      examples: [name],
      run: async ({ config, out }) => {
        const databaseUrl = requireDatabaseUrl(config, name);
        const logger = createRoleLogger(config, name);
        return runUntilSignal(logger, async () => {
          const { startWatchedRole } = await import('#src/roles/watched.ts');
          const start = await ROLES[name]();
          const { role, metrics, stop } = await startWatchedRole(name, start, config, databaseUrl, logger);
          logger.info({ address: role.address ?? undefined, metrics }, `${name} ready`);
          out.document({ [name]: role.address ?? 'ready', metrics });
          return { stop };
        });
      },
    });
  }

  defineCommand(program, 'migrate', {
    details: 'Can run repeatedly, and in several processes at once: a lock lets one migrate at a time.',
    examples: ['migrate'],
    run: async ({ config, out }) => {
      const { migrateAll } = await import('#src/roles/migrate.ts');
      const logger = createLogger('silent', { pretty: false, role: 'migrate' });
      await migrateAll(config, await findDatabaseUrl(config), logger);
      out.answer({ migrated: true }, 'The database is up to date.');
    },
  });
};
