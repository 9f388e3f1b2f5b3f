import type { Command } from 'commander';
import { act, defineCommand } from '#src/cli/frame.ts';
import { runUntilSignalled } from '#src/cli/until-signalled.ts';
import type { Config } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { createLogger } from '#src/logger.ts';
import type { Role } from '#src/roles/role.ts';
import type { StartRole } from '#src/roles/watched.ts';

const requireFleet = (config: Config, command: string): string => {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  throw new UsageError(
    `catalogue ${command} is one role of a fleet: set DATABASE_URL (and REDIS_URL), or run npx catalogue up for everything in one process.`,
  );
};

const loggerFor = (config: Config, role: string) =>
  createLogger(config.logLevel, { pretty: process.stderr.isTTY, role });

/** The commands that run until they are told to stop, and `migrate`. */
export const register = (program: Command): void => {
  const up = defineCommand(program, 'up', {
    summary: 'run worker, api and board in one process',
    details:
      'Embedded Postgres in CATALOGUE_HOME unless DATABASE_URL is set. Brings the database up to date first.',
    examples: ['up', 'up --json'],
  });
  act(up, async ({ config, out }) => {
    const logger = loggerFor(config, 'up');
    const { startEverything } = await import('#src/roles/up.ts');
    return runUntilSignalled(logger, async () => {
      const everything = await startEverything(config, logger, (message) => out.note(message));
      const addresses = everything.roles.flatMap(({ name, address }) =>
        address === null ? [] : [[name, address]],
      );
      addresses.push(['metrics', `${everything.metrics}/metrics`]);
      out.document(Object.fromEntries(addresses));
      for (const [name, address] of addresses) out.line(`${name}  ${address}`);
      out.line('Stop with Ctrl-C.');
      return everything;
    });
  });

  const roles: [name: Role['name'], summary: string, start: StartRole][] = [
    [
      'worker',
      'run one worker of the fleet',
      async (...args) => (await import('#src/roles/worker.ts')).startWorker(...args),
    ],
    [
      'api',
      "run the platform's own API",
      async (...args) => (await import('#src/roles/api.ts')).startApi(...args),
    ],
    ['board', 'run Bull Board', async (...args) => (await import('#src/roles/board.ts')).startBoard(...args)],
  ];
  for (const [name, summary, start] of roles) {
    const command = defineCommand(program, name, { summary, examples: [name] });
    act(command, async ({ config, out }) => {
      const databaseUrl = requireFleet(config, name);
      const logger = loggerFor(config, name);
      return runUntilSignalled(logger, async () => {
        const { startWatchedRole } = await import('#src/roles/watched.ts');
        const { role, metrics, stop } = await startWatchedRole(name, start, config, databaseUrl, logger);
        logger.info({ address: role.address ?? undefined, metrics }, `${name} ready`);
        out.document({ [name]: role.address ?? 'ready', metrics });
        return { stop };
      });
    });
  }

  const migrate = defineCommand(program, 'migrate', {
    summary: 'bring the database (and the queue schema) up to date',
    details:
      'Safe to run from many processes at once, and again: one migrates, the others find nothing to do.',
    examples: ['migrate'],
  });
  act(migrate, async ({ config, out }) => {
    const { findDatabaseUrl } = await import('#src/cli/frame.ts');
    const { migrateAll } = await import('#src/roles/migrate.ts');
    await migrateAll(
      config,
      await findDatabaseUrl(config),
      createLogger('silent', { pretty: false, role: 'migrate' }),
    );
    out.document({ migrated: true });
    out.line('The database is up to date.');
    return undefined;
  });
};
