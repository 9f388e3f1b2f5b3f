import type { Command } from '@commander-js/extra-typings';
import type { DemoApplication } from '#src/cli/commands/demo-applications.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { findDatabaseUrl, openProducer } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { runUntilSignal } from '#src/cli/kit/run-until-signal.ts';
import { type Config, configFor } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { createLogger } from '#src/logger.ts';
import type { FleetPart, StartPart } from '#src/processes/fleet-part.ts';

/** @returns the configuration with the URL of this process */
const requireDatabaseUrl = (config: Config, command: FleetPart['name']): Config & { databaseUrl: string } => {
  const role = command === 'kyc-desk' ? 'kyc_desk' : command;
  const own = configFor(config, role);
  const { databaseUrl } = own;
  if (databaseUrl !== undefined) return { ...own, databaseUrl };
  const settings = `DATABASE_URL_${role.toUpperCase()} or DATABASE_URL (and REDIS_URL)`;
  throw new UsageError(
    `catalogue ${command} is one process of a fleet: set ${settings}, or run npx catalogue up for everything in one process.`,
  );
};

const createProcessLogger = (config: Config, name: string) =>
  createLogger(config.logLevel, {
    pretty: process.stderr.isTTY,
    process: name,
    isSent: config.telemetry.logs,
  });

const PARTS: Record<FleetPart['name'], () => Promise<StartPart>> = {
  worker: async () => (await import('#src/processes/worker.ts')).startWorker,
  api: async () => (await import('#src/processes/api.ts')).startApi,
  console: async () => (await import('#src/processes/console.ts')).startConsole,
  media: async () => (await import('#src/processes/media.ts')).startMedia,
  'kyc-desk': async () => (await import('#src/processes/kyc-desk.ts')).startKycDesk,
};

/** The sample applications of the demo that ran in this home before; undefined if none did, or the database is another. */
const findDemo = async (config: Config) => {
  if (config.databaseUrl !== undefined) return undefined;
  const { allowSampleApplications, hadDemo, restartDemoApplications } = await import(
    '#src/cli/commands/demo-applications.ts'
  );
  if (!(await hadDemo(config.home))) return undefined;
  return {
    config: allowSampleApplications(config),
    start: async (databaseUrl: string, resources: AsyncDisposableStack) => {
      const { openKeyRing } = await import('#src/sealing/key-ring.ts');
      await using foundation = await openProducer(config, databaseUrl, 'up');
      return await restartDemoApplications(foundation.sql, await openKeyRing(config), config.home, resources);
    },
  };
};

/** The commands that run until a signal stops them (`up`, `worker`, `api`, `console`, `media`, `kyc-desk`), and `migrate`. */
export const register = (program: Command): void => {
  defineCommand(program, 'up', {
    details:
      'Worker, API, media, console and KYC desk share this process, its keys and its database role; a fleet separates them. Migrates the database first. Without DATABASE_URL, starts an embedded Postgres in CATALOGUE_HOME.',
    examples: ['up', 'up --json'],
    run: async ({ config, out }) => {
      const logger = createProcessLogger(config, 'up');
      const { startEverything } = await import('#src/processes/up.ts');
      const demo = await findDemo(config);
      const start = async () => {
        await using resources = new AsyncDisposableStack();
        const samples: DemoApplication[] = [];
        const startSamples = async (databaseUrl: string): Promise<void> => {
          samples.push(...((await demo?.start(databaseUrl, resources)) ?? []));
        };
        const everything = await startEverything(demo?.config ?? config, logger, out.note, startSamples);
        resources.defer(() => everything.stop());
        const addresses = Object.fromEntries([
          ...everything.parts.flatMap(({ name, address }) => (address === null ? [] : [[name, address]])),
          ['metrics', everything.metrics],
        ]);
        const lines = Object.entries(addresses).map(([name, address]) => `${name}  ${address}`);
        if (samples.length > 0) lines.push('The sample applications of the demo run again:');
        lines.push(...samples.map(({ name, server }) => `${name}  ${server.url}`));
        out.answer(addresses, ...lines, 'Stop with Ctrl-C.');
        const running = resources.move();
        return { stop: () => running.disposeAsync(), lost: everything.lost };
      };
      return runUntilSignal(logger, start, { exitsWhileStarting: true });
    },
  });

  for (const name of ['worker', 'api', 'console', 'media', 'kyc-desk'] as const) {
    defineCommand(program, name, {
      examples: [name],
      run: async ({ config: given, out }) => {
        const config = requireDatabaseUrl(given, name);
        const { databaseUrl } = config;
        const logger = createProcessLogger(config, name);
        return runUntilSignal(logger, async () => {
          const { startParts } = await import('#src/processes/start-parts.ts');
          const starts = [await PARTS[name]()];
          const { parts, metrics, stop } = await startParts(name, starts, config, databaseUrl, logger);
          const address = parts[0]?.address ?? undefined;
          logger.info({ address, metrics }, `${name} ready`);
          out.document({ [name]: address ?? 'ready', metrics });
          return { stop };
        });
      },
    });
  }

  defineCommand(program, 'migrate', {
    details:
      'Can run repeatedly, and in several processes at once: a lock lets one migrate at a time. Also creates the database roles of the processes and grants their rights (docs/security.md).',
    examples: ['migrate'],
    run: async ({ config, out }) => {
      const { noteBlockers } = await import('#src/cli/kit/note-blockers.ts');
      const { migrateAll } = await import('#src/processes/migrate.ts');
      const logger = createLogger('silent', { pretty: false, process: 'migrate' });
      const databaseUrl = await findDatabaseUrl(config);
      await using _ = noteBlockers(databaseUrl, ['catalogue migrate', 'catalogue migrate lock'], out.note);
      const notes: string[] = [];
      const { applied, rules } = await migrateAll(config, databaseUrl, logger, (note) => {
        notes.push(note);
        out.note(note);
      });
      const done = applied === 0 ? 'no migration was due' : `${formatCount(applied, 'migration')} applied`;
      const rights = 'Each role has the rights and settings of this version, and the password of its URL.';
      out.answer(
        { migrated: true, applied, ...rules },
        `The database is up to date: ${done}.`,
        `Rules of every process: GAMES_NEED_VERDICT=${rules.games_need_verdict}, REVIEW_TARGET=${formatDuration(rules.review_target_ms)}.`,
        ...(notes.length === 0 ? [rights] : []),
      );
    },
  });
};
