import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { listKycStates, requestKycPull } from '#db/queries/kyc.ts';
import { countLanes } from '#db/queries/lane-counts.ts';
import { findOperator } from '#db/queries/operators.ts';
import type { DemoApplication } from '#src/cli/commands/demo-applications.ts';
import { ENDED_COLUMNS, exitCodeOfRuns, startRuns, waitForRuns } from '#src/cli/commands/runs.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { openProducer } from '#src/cli/kit/context.ts';
import { quoteForShell } from '#src/cli/kit/format.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { integerUpTo } from '#src/cli/kit/parsers.ts';
import { runUntilSignal } from '#src/cli/kit/run-until-signal.ts';
import { waitForKyc } from '#src/cli/kit/wait.ts';
import type { Config } from '#src/config.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { ROLES } from '#src/contract/roles.ts';
import { type ExitCode, UsageError } from '#src/errors.ts';
import { gameList } from '#src/lists/games.ts';
import { readFirst } from '#src/lists/read.ts';
import { toRunDocument } from '#src/lists/runs.ts';
import type { Given, Operation } from '#src/operations/operation.ts';
import { readNeed } from '#src/operations/second-person.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import type { Everything } from '#src/processes/up.ts';

const SYNC_TIMEOUT_MS = 60 * 60_000;

/** The demo ignores the settings of a fleet, because everything is embedded, and calls to this machine are allowed. */
const createDemoConfig = async (config: Config, out: Output): Promise<Config> => {
  const { isPortFree } = await import('#src/processes/listen.ts');
  const { allowSampleApplications } = await import('#src/cli/commands/demo-applications.ts');
  const freePort = async (name: string, address: { host: string; port: number }): Promise<number> => {
    if (await isPortFree(address)) return address.port;
    out.note(`Port ${address.port} is in use: ${name} uses another one.`);
    return 0;
  };
  return {
    ...allowSampleApplications(config),
    databaseUrl: undefined,
    redisUrl: undefined,
    encryptionKeys: undefined,
    api: { ...config.api, port: await freePort('the API', config.api) },
    console: { ...config.console, port: await freePort('the console', config.console) },
    kycDesk: { ...config.kycDesk, port: await freePort('the KYC desk', config.kycDesk) },
    metrics: { ...config.metrics, port: await freePort('the metrics', config.metrics) },
  };
};

/** Runs operations as the demo. */
const demoOperate =
  ({ sql, producer }: Foundation) =>
  async <Schema extends z.ZodType, Result, Final>(
    operation: Operation<Schema, Result, Final>,
    given: Given<Schema>,
  ): Promise<Final> => {
    const { operate } = await import('#src/operations/operate.ts');
    const caller = { actor: { actor: 'demo', actor_kind: 'system' }, roles: 'all' } as const;
    return operate(operation, given, caller, {
      sql,
      fourEyes: FOUR_EYES_BY_DEFAULT,
      keepsPictures: true,
      producer: async () => producer,
      keys: () => Promise.reject(new Error('the demo needs no keys')),
    });
  };

/** Pulls the KYC records. @returns their states */
const pullKycRecords = async (foundation: Foundation, out: Output, ids: readonly string[]) => {
  for (const application_id of ids) await requestKycPull(foundation.sql, application_id);
  await waitForKyc(foundation, out, ids);
  return (await listKycStates(foundation.sql)).filter(({ application_id }) => ids.includes(application_id));
};

const EXAMPLES_SHOWN = 6;

/** Syncs the applications once and prints what was stored. */
const showSync = async (foundation: Foundation, out: Output, ids: readonly string[]): Promise<ExitCode> => {
  const { sql } = foundation;
  // A smaller --games than last time withdraws games on purpose. If there are two reviewers, both must accept it.
  const need = await readNeed(sql, FOUR_EYES_BY_DEFAULT, 'withdrawals');
  const options = { full: false, accept_withdrawals: need !== 'needed' };
  const { opened, alreadyRunning } = await startRuns(demoOperate(foundation), ids, options);
  const runs = await waitForRuns(foundation, out, [...opened, ...alreadyRunning], SYNC_TIMEOUT_MS);
  const kyc = await pullKycRecords(foundation, out, ids);
  const lanes = await countLanes(sql);
  const pending = lanes.new + lanes.changed;
  out.document({ runs: runs.map(toRunDocument), kyc, games: { pending } });
  out.table(runs, ENDED_COLUMNS);
  out.line();
  out.table(kyc, [['KYC record of', 'application_id'], 'state']);
  out.line();
  out.line(pending === 0 ? 'No game waits for review.' : `${pending} games wait for review, for example:`);
  const sources = { sql, producer: async () => foundation.producer };
  const examples = await readFirst(gameList, sources, { audit_status: 'pending' }, EXAMPLES_SHOWN);
  if (examples.length > 0)
    out.table(examples, ['game_id', ['application', 'application_id'], 'game_name', 'audit_status']);
  return exitCodeOfRuns(runs, false);
};

const DEMO_LOGIN = 'demo';

/** A link that opens the review page, signed in as an operator of the demo who has every role. */
const createDemoLink = async (foundation: Foundation, { parts }: Everything): Promise<string> => {
  const { signInUrl } = await import('#src/identity/links.ts');
  const { addOperator, linkOperator } = await import('#src/operations/operators.ts');
  const address = parts.find(({ name }) => name === 'console')?.address ?? '';
  const operate = demoOperate(foundation);
  if ((await findOperator(foundation.sql, DEMO_LOGIN)) === undefined)
    await operate(addOperator, { login: DEMO_LOGIN, name: 'Demo', roles: [...ROLES] });
  const { secret } = await operate(linkOperator, { login: DEMO_LOGIN, sets_password: false });
  // It sets no password, so it opens at the console, although its operator is a KYC officer too.
  return `${signInUrl({ console: address, kycDesk: address }, { roles: ROLES, secret })}&next=/review`;
};

const showNextSteps = (
  out: Output,
  { parts }: Everything,
  applications: DemoApplication[],
  home: string,
  signInLink: string,
): void => {
  // Commands find the database of this demo by its CATALOGUE_HOME.
  const catalogue = `${home === resolve('.catalogue') ? '' : `CATALOGUE_HOME=${quoteForShell(home)} `}npx catalogue`;
  const api = parts.find(({ name }) => name === 'api')?.address;
  const lines = [
    '',
    'Review the games in a browser. This link signs in, once, within 15 minutes:',
    `  ${signInLink}`,
    '',
    ...parts.flatMap(({ name, address }) => (address === null ? [] : `${name.padEnd(10)}${address}`)),
    ...applications.map(({ name, server }) => `${name} runs at ${server.url}`),
    '',
    'Try these commands in another terminal, in this directory:',
    `  ${catalogue} game list --status pending`,
    `  ${catalogue} sync ${applications[0]?.application_id ?? '--all'} --full --wait`,
    `  ${catalogue} queue status`,
    `  ${catalogue} operator add kim --role admin --role reviewer  # prints a link to sign in`,
    `  curl --silent ${api}/open-api/game/list-by-audit-status --header "Authorization: Bearer $(${catalogue} token create --operator ${DEMO_LOGIN} --expires 1d 2>/dev/null)" --json '{"audit_status":"pending","page_num":1,"page_size":20}'`,
    '',
    'Stop with Ctrl-C. The data is kept for the next demo.',
  ];
  for (const line of lines) out.line(line);
};

/** `catalogue demo` */
export const register = (program: Command): void =>
  defineCommand(program, 'demo', {
    details: 'Keeps running until Ctrl-C, unless --once is given. Keeps its data in CATALOGUE_HOME.',
    examples: ['demo', 'demo --once --json', 'demo --games 5000 --applications 5'],
    parameters: (command) =>
      command
        .option('--once', 'exit after the sync')
        .option('--games <games>', 'games of each application', integerUpTo(1_000_000), 300)
        .option('--applications <applications>', 'number of sample applications', integerUpTo(50), 3),
    run: async ({ config: given, out }, { once, games, applications: count }) => {
      if (given.databaseUrl !== undefined)
        throw new UsageError(
          'The demo uses a separate database, but DATABASE_URL is set: unset it, or run npx catalogue up.',
        );
      const { createLogger } = await import('#src/logger.ts');
      const { startEverything } = await import('#src/processes/up.ts');
      const { openKeyRing } = await import('#src/sealing/key-ring.ts');
      const { startDemoApplications } = await import('#src/cli/commands/demo-applications.ts');
      const config = await createDemoConfig(given, out);
      const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
      const logger = createLogger(level, { pretty: process.stderr.isTTY, process: 'demo' });
      const start = async () => {
        await using resources = new AsyncDisposableStack();
        const applications: DemoApplication[] = [];
        const startApplications = async (databaseUrl: string): Promise<void> => {
          await using foundation = await openProducer(config, databaseUrl, 'demo');
          const keys = await openKeyRing(config);
          const settings = { home: config.home, applications: count, games };
          applications.push(...(await startDemoApplications(foundation.sql, keys, settings, resources)));
        };
        const everything = await startEverything(config, logger, out.note, startApplications);
        resources.defer(() => everything.stop());
        await using foundation = await openProducer(config, everything.databaseUrl, 'demo');
        const ids = applications.map(({ application_id }) => application_id);
        const exitCode = await showSync(foundation, out, ids);
        const signInLink = once === true ? '' : await createDemoLink(foundation, everything);
        return { everything, applications, exitCode, signInLink, resources: resources.move() };
      };
      if (once === true) {
        // process.exit() lets the embedded Postgres stop; the default action of a signal does not.
        for (const signal of ['SIGINT', 'SIGTERM'] as const)
          process.once(signal, () => process.exit(128 + constants.signals[signal]));
        const { exitCode, resources } = await start();
        await resources.disposeAsync();
        out.line();
        out.line('Review them in a browser: npm run demo');
        return exitCode;
      }
      const run = async () => {
        const { everything, applications, signInLink, resources } = await start();
        showNextSteps(out, everything, applications, config.home, signInLink);
        return { stop: () => resources.disposeAsync(), lost: everything.lost };
      };
      return runUntilSignal(logger, run, { exitsWhileStarting: true });
    },
  });
