import { constants } from 'node:os';
import type { Command } from 'commander';
import { countGames, listGames } from '#db/queries/games.ts';
import { listKycStates } from '#db/queries/kyc.ts';
import { type DemoApplication, startDemoApplications } from '#src/cli/demo-applications.ts';
import { act, type CommandContext, defineCommand } from '#src/cli/frame.ts';
import type { Output } from '#src/cli/output.ts';
import { exitCodeOf, RUN_COLUMNS, runDocument } from '#src/cli/run-view.ts';
import { startRuns } from '#src/cli/sync.ts';
import { runUntilSignalled } from '#src/cli/until-signalled.ts';
import { integer } from '#src/cli/values.ts';
import { awaitResults } from '#src/cli/wait-jobs.ts';
import { awaitRuns } from '#src/cli/wait-runs.ts';
import type { Config } from '#src/config.ts';
import { type ExitCode, UsageError } from '#src/errors.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { createLogger } from '#src/logger.ts';
import { type Foundation, openFoundation } from '#src/roles/foundation.ts';
import { isPortFree } from '#src/roles/listen.ts';
import { type Everything, startEverything } from '#src/roles/up.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

type DemoOptions = { json?: boolean; once?: boolean; games?: number; applications?: number };

const TIMEOUT_MS = 60 * 60_000;

/** The demo's own environment: embedded, and calls to this machine allowed, whatever is set outside. */
const demoConfig = async (config: Config): Promise<Config> => ({
  ...config,
  databaseUrl: undefined,
  redisUrl: undefined,
  encryptionKeys: undefined,
  webhooks: { allowHttp: true, allowNetworks: ['127.0.0.0/8', '::1/128'] },
  // A demo does not fail because another program has the usual port.
  api: { ...config.api, port: (await isPortFree(config.api)) ? config.api.port : 0 },
  board: { ...config.board, port: (await isPortFree(config.board)) ? config.board.port : 0 },
});

/** Pull each developer's record, and say what is known of it then. */
const pullKyc = async (foundation: Foundation, ids: readonly string[], out: Output) => {
  const added = [];
  for (const application_id of ids) added.push(await foundation.producer.add(queryCpKyc, { application_id }));
  await awaitResults(foundation, queryCpKyc, added, out);
  const states = await listKycStates(foundation.sql);
  return states.filter(({ application_id }) => ids.includes(application_id));
};

type Shown = { exitCode: ExitCode; applications: DemoApplication[] };

/** Register the sample applications, sync them once in sight, and print what landed. */
const showOneSync = async (
  { out }: CommandContext,
  config: Config,
  everything: Everything,
  options: DemoOptions,
  stack: AsyncDisposableStack,
): Promise<Shown> => {
  await using foundation = openFoundation(config, everything.databaseUrl, {
    role: 'producer',
    name: 'demo',
    maxConnections: 4,
    logger: createLogger('silent', { pretty: false, role: 'demo' }),
  });
  const { sql } = foundation;
  const keys = await openKeyRing(config);
  const wanted = { home: config.home, applications: options.applications ?? 3, games: options.games ?? 300 };
  const applications = await startDemoApplications(sql, keys, wanted, stack);
  const ids = applications.map(({ application_id }) => application_id);
  const { opened, alreadyRunning } = await startRuns(foundation, ids, {
    full: false,
    // With fewer games than the last time, that is what was asked for.
    acceptWithdrawals: true,
  });
  const runs = await awaitRuns(sql, [...opened, ...alreadyRunning], { timeoutMs: TIMEOUT_MS, out });
  const kyc = await pullKyc(foundation, ids, out);
  const { pending } = await countGames(sql);
  out.document({ runs: runs.map(runDocument), kyc, games: { pending } });
  out.table(runs, RUN_COLUMNS);
  out.line();
  out.table(kyc, [
    { header: 'developer record of', value: (row) => row.application_id },
    { header: 'state', value: (row) => row.state },
  ]);
  out.line();
  const some = await listGames(sql, { limit: 6 });
  out.line(`${pending} games wait for review, these among them:`);
  out.table(some, [
    { header: 'game_id', value: (game) => game.game_id },
    { header: 'application', value: (game) => game.application_id },
    { header: 'game_name', value: (game) => game.game_name },
    { header: 'audit_status', value: (game) => game.audit_status },
  ]);
  return { exitCode: exitCodeOf(runs, false), applications };
};

const showWhatToTry = ({ out }: CommandContext, everything: Everything, applications: DemoApplication[]) => {
  const [first] = applications;
  out.line();
  for (const { name, address } of everything.roles)
    if (address !== null) out.line(`${name.padEnd(6)} ${address}`);
  for (const { name, server } of applications) out.line(`${name} answers at ${server.url}`);
  out.line();
  out.line('Three things to try, in another terminal of this folder:');
  out.line('  npx catalogue game list --status pending');
  out.line(`  npx catalogue sync ${first?.application_id ?? '--all'} --full --wait`);
  out.line('  npx catalogue queue status');
  out.line();
  out.line('Stop with Ctrl-C; what landed stays for the next time.');
};

/** `catalogue demo` */
export const register = (program: Command): void => {
  const demo = defineCommand(program, 'demo', {
    summary: 'see it work: embedded everything, sample applications, one visible sync',
    details:
      'Stays up with worker, board and API until Ctrl-C, unless --once. Its data stays in CATALOGUE_HOME.',
    examples: ['demo', 'demo --once', 'demo --once --json', 'demo --games 5000 --applications 5'],
  })
    .option('--once', 'end after the sync')
    .option('--games <games>', 'games of each application (default 300)', integer({ min: 1, max: 1_000_000 }))
    .option('--applications <applications>', 'sample applications (default 3)', integer({ min: 1, max: 50 }));
  act<[], DemoOptions>(demo, async (context, options) => {
    if (context.config.databaseUrl !== undefined) {
      throw new UsageError(
        'The demo runs on a database of its own, but DATABASE_URL is set: unset it, or run npx catalogue up.',
      );
    }
    const config = await demoConfig(context.config);
    const logger = createLogger(config.logLevel === 'info' ? 'warn' : config.logLevel, {
      pretty: process.stderr.isTTY,
      role: 'demo',
    });
    const start = async () => {
      await using stack = new AsyncDisposableStack();
      const everything = await startEverything(config, logger, (message) => context.out.note(message));
      stack.defer(() => everything.stop());
      const shown = await showOneSync(context, config, everything, options, stack);
      return { everything, shown, all: stack.move() };
    };
    if (options.once === true) {
      // Ended by a call and not by the signal, so that its Postgres ends along.
      process.once('SIGINT', () => process.exit(128 + constants.signals.SIGINT));
      process.once('SIGTERM', () => process.exit(128 + constants.signals.SIGTERM));
      const { shown, all } = await start();
      await all.disposeAsync();
      return shown.exitCode;
    }
    return runUntilSignalled(logger, async () => {
      const { everything, shown, all } = await start();
      showWhatToTry(context, everything, shown.applications);
      return { stop: () => all.disposeAsync(), lost: everything.lost };
    });
  });
};
