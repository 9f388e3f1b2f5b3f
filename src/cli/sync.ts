import { type Command, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { formatDuration } from '#src/cli/format.ts';
import { durationBetween, parseApplicationGameId, parseApplicationId, variadic } from '#src/cli/parsers.ts';
import { pullGames } from '#src/cli/pull-games.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { exitCodeOfRuns, RUN_COLUMNS, toRunDocument } from '#src/cli/run-table.ts';
import { startRuns } from '#src/cli/start-runs.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';
import { WAIT_TIMEOUT_MS, waitForRuns, warnWithoutWorker } from '#src/cli/wait.ts';
import { EXIT, UsageError } from '#src/errors.ts';

const DAY_MS = 24 * 60 * 60_000;

const chooseApplications = async (sql: Database, ids: string[], all: boolean): Promise<string[]> => {
  if (all === ids.length > 0)
    throw new UsageError('Name the applications to sync, or give --all: npx catalogue sync acme');
  if (!all) {
    for (const id of ids) await requireApplication(sql, id);
    return [...new Set(ids)];
  }
  const active = (await listApplications(sql)).filter(({ status }) => status === 'active');
  if (active.length === 0)
    throw new UsageError('No active application is registered: npx catalogue app add --help');
  return active.map(({ application_id }) => application_id);
};

/** `catalogue sync` and `catalogue pull` */
export const register = (program: Command): void => {
  defineCommand(program, 'sync', {
    summary: SUMMARIES.sync,
    details:
      'An application has one run at a time: if one is open, the command leaves it alone (exit 4).\nWith --wait: exit 0 if every run succeeded, 3 if one was partial or suspect, 1 if one failed.',
    examples: [
      'sync acme',
      'sync acme --wait',
      'sync --all --wait --json',
      'sync acme --full',
      'sync acme --accept-withdrawals --wait',
    ],
  })
    .argument('[application_id...]', 'the applications', variadic(parseApplicationId))
    .option('--all', 'sync every active application')
    .option('--full', 'fetch every detail, changed or not')
    .option('--wait', 'wait until the runs end, with progress on a terminal')
    .addOption(
      new Option('--timeout <duration>', 'maximum time to wait')
        .argParser(durationBetween(1_000, DAY_MS))
        .default(WAIT_TIMEOUT_MS, formatDuration(WAIT_TIMEOUT_MS)),
    )
    .option('--accept-withdrawals', 'let the run withdraw more than half of the games')
    .action(
      withContext(async ({ openQueues, out }, ids, options) => {
        const foundation = await openQueues();
        const { sql } = foundation;
        const chosen = await chooseApplications(sql, ids, options.all === true);
        const { opened, alreadyRunning } = await startRuns(foundation, chosen, {
          full: options.full === true,
          accept_withdrawals: options.acceptWithdrawals === true,
        });
        for (const { application_id, run_id } of alreadyRunning)
          out.error(`${application_id} is already being synced by run ${run_id}.`);
        const running = alreadyRunning.map(({ application_id, run_id }) => ({ application_id, run_id }));
        const rest = running.length > 0 ? { already_running: running } : {};
        if (options.wait !== true) {
          await warnWithoutWorker(sql, out);
          const lines = opened.map((run) => `${run.application_id}  run ${run.run_id}`);
          out.answer({ runs: opened.map(toRunDocument), ...rest }, ...lines);
          return running.length > 0 ? EXIT.alreadyRunning : EXIT.done;
        }
        const ended = await waitForRuns(sql, out, opened, options.timeout);
        out.document({ runs: ended.map(toRunDocument), ...rest });
        if (ended.length > 0) out.table(ended, RUN_COLUMNS);
        for (const { application_id, reason } of ended) {
          if (reason !== null) out.note(`${application_id}: ${reason}`);
        }
        return exitCodeOfRuns(ended, running.length > 0);
      }),
    );

  defineCommand(program, 'pull', {
    summary: SUMMARIES.pull,
    examples: ['pull acme g-1001', 'pull acme g-1001 g-1002 --wait'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .argument(
      '<application_game_id...>',
      "the games, by the application's own ids",
      variadic(parseApplicationGameId),
    )
    .option('--wait', 'wait for the result')
    .action(
      withContext(async ({ openQueues, out }, application_id, ids, { wait }) => {
        const foundation = await openQueues();
        await requireApplication(foundation.sql, application_id);
        return pullGames(foundation, out, application_id, ids, { wait });
      }),
    );
};
