import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import { defineCommand } from '#src/cli/command.ts';
import { formatDuration } from '#src/cli/format.ts';
import { APPLICATION, durationBetween, parseApplicationId, variadic, WAIT } from '#src/cli/parsers.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { exitCodeOfRuns, RUN_COLUMNS, startRuns, toRunDocument, waitForRuns } from '#src/cli/runs.ts';
import { pullGames, WAIT_TIMEOUT_MS, warnWithoutWorker } from '#src/cli/wait.ts';
import { IDENTIFIER_MAX, identifier } from '#src/contract/text.ts';
import { EXIT, UsageError } from '#src/errors.ts';

const DAY_MS = 24 * 60 * 60_000;

/** An application's own id of a game (interface document, section 2.4). */
export const parseApplicationGameId = (text: string): string => {
  if (identifier.safeParse(text).success) return text;
  throw new InvalidArgumentError(
    `Give an id of 1 to ${IDENTIFIER_MAX} characters, as the application sends it.`,
  );
};

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
    details:
      'An application has one run at a time: if one is open, it continues and the command exits with 4.\nWith --wait: exit 0 if every run succeeded, 3 if one was partial or suspect, 1 if one failed.',
    examples: ['sync acme', 'sync --all --wait --json', 'sync acme --full', 'sync acme --accept-withdrawals'],
    parameters: (command) =>
      command
        .argument('[application_id...]', 'the applications', variadic(parseApplicationId))
        .option('--all', 'sync every active application')
        .option('--full', 'fetch every detail, changed or not')
        .option('--wait', 'wait until the runs end, with progress on a terminal')
        .addOption(
          new Option('--timeout <duration>', 'maximum time to wait')
            .argParser(durationBetween(1_000, DAY_MS))
            .default(WAIT_TIMEOUT_MS, formatDuration(WAIT_TIMEOUT_MS)),
        )
        .option('--accept-withdrawals', 'let the run withdraw more than half of the games'),
    run: async ({ openQueues, out }, ids, { all, full, wait, timeout, acceptWithdrawals }) => {
      const foundation = await openQueues();
      const { sql } = foundation;
      const { opened, alreadyRunning } = await startRuns(
        foundation,
        await chooseApplications(sql, ids, all === true),
        { full: full === true, accept_withdrawals: acceptWithdrawals === true },
      );
      const running = alreadyRunning.map(({ application_id, run_id }) => ({ application_id, run_id }));
      for (const { application_id, run_id } of running)
        out.error(`${application_id}: run ${run_id} is already open.`);
      const rest = running.length > 0 ? { already_running: running } : {};
      if (wait !== true) {
        await warnWithoutWorker(sql, out);
        const lines = opened.map((run) => `${run.application_id}  run ${run.run_id}`);
        out.answer({ runs: opened.map(toRunDocument), ...rest }, ...lines);
        return running.length > 0 ? EXIT.alreadyRunning : EXIT.done;
      }
      const ended = await waitForRuns(sql, out, opened, timeout);
      out.document({ runs: ended.map(toRunDocument), ...rest });
      if (ended.length > 0) out.table(ended, RUN_COLUMNS);
      for (const { application_id, reason } of ended) {
        if (reason !== null) out.note(`${application_id}: ${reason}`);
      }
      return exitCodeOfRuns(ended, running.length > 0);
    },
  });

  defineCommand(program, 'pull', {
    examples: ['pull acme g-1001', 'pull acme g-1001 g-1002 --wait'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .argument(
          '<application_game_id...>',
          "the games, by the application's ids",
          variadic(parseApplicationGameId),
        )
        .option(...WAIT),
    run: async ({ openQueues, out }, application_id, ids, { wait }) => {
      const foundation = await openQueues();
      await requireApplication(foundation.sql, application_id);
      return pullGames(foundation, out, application_id, ids, wait === true);
    },
  });
};
