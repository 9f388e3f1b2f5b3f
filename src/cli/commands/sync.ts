import { type Command, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import { findApproval } from '#db/queries/approvals.ts';
import { findRun } from '#db/queries/runs.ts';
import { ENDED_COLUMNS, exitCodeOfRuns, startRuns, waitForRuns } from '#src/cli/commands/runs.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import {
  APPROVAL,
  durationBetween,
  parseApplicationId,
  parseNonEmpty,
  variadic,
} from '#src/cli/kit/parsers.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import { WAIT_TIMEOUT_MS, warnWithoutWorker } from '#src/cli/kit/wait.ts';
import { EXIT, UsageError } from '#src/errors.ts';
import { DAY_MS, formatDuration } from '#src/lib/duration.ts';
import { toRunDocument } from '#src/lists/runs.ts';
import { readNeed } from '#src/operations/second-person.ts';

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

/**
 * Follows the rule of two persons for `--accept-withdrawals`. With an approval, the games that were approved are withdrawn
 * now, and the new run may withdraw no more than usual, because its missing games were not reviewed.
 * @returns whether the runs may withdraw more than half of the games
 * @throws UsageError without the second person
 */
const acceptBefore = async (
  { config, openDatabase, operate, out }: CommandContext,
  ids: readonly string[],
  { by, approval: approval_id }: { by?: string | undefined; approval?: string | undefined },
): Promise<boolean> => {
  const sql = await openDatabase();
  if (approval_id === undefined) {
    // Checked before the first of several runs opens. Each operation checks the rule again.
    if ((await readNeed(sql, config.fourEyes, 'withdrawals')) !== 'needed') return true;
    throw new UsageError(
      'It takes two persons to accept withdrawals: on the page of the suspect run in the console one requests it, another reviewer approves. Then repeat this with --by and --approval for that application.',
    );
  }
  const { acceptWithdrawals } = await import('#src/operations/withdrawals.ts');
  const approval = await findApproval(sql, approval_id);
  const run = approval?.kind === 'withdrawals' ? await findRun(sql, approval.subject.slice(4)) : undefined;
  if (run === undefined || ids.length !== 1 || run.application_id !== ids[0])
    throw new UsageError(
      'Name the one application whose withdrawals were approved: npx catalogue approval list',
    );
  const { game_ids } = await operate(acceptWithdrawals, { run_id: run.run_id, approval_id }, { by });
  out.note(`Withdrew ${formatCount(game_ids.length, 'game')} of ${run.application_id}, as approved.`);
  return false;
};

/** `catalogue sync` */
export const register = (program: Command): void => {
  defineCommand(program, 'sync', {
    details:
      'An application has one run at a time. If one is open, no other starts: without --wait the command exits with 4, with --wait it waits for the open run.\nWith --wait: exit 0 if every run succeeded, 3 if one was partial or suspect, 1 if one failed. Ctrl-C ends only the command; run cancel ends a run.',
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
        .option(
          '--accept-withdrawals',
          'let the run withdraw more than half of the games; takes a second person if two operators could',
        )
        .option(
          '--by <who>',
          'name of the operator, for --accept-withdrawals (default: the system user)',
          parseNonEmpty,
        )
        .option(...APPROVAL),
    run: async (context, ids, { all, full, wait, timeout, acceptWithdrawals, by, approval }) => {
      const { openQueues, operate, out } = context;
      if (acceptWithdrawals !== true && (by ?? approval) !== undefined)
        throw new UsageError('--by and --approval require --accept-withdrawals.');
      const foundation = await openQueues();
      const { sql } = foundation;
      const chosen = await chooseApplications(sql, ids, all === true);
      const accept_withdrawals =
        acceptWithdrawals === true && (await acceptBefore(context, chosen, { by, approval }));
      const { opened, alreadyRunning } = await startRuns(
        (operation, given) => operate(operation, given, { by }),
        chosen,
        { full: full === true, accept_withdrawals },
        all === true ? (id) => out.note(`${id}: removed meanwhile.`) : undefined,
      );
      const running = alreadyRunning.map(({ application_id, run_id }) => ({ application_id, run_id }));
      for (const { application_id, run_id } of running)
        out.note(
          `${application_id}: run ${run_id} is already open${wait === true ? ': waiting for it' : ''}.`,
        );
      const rest = running.length > 0 ? { already_running: running } : {};
      if (wait !== true) {
        await warnWithoutWorker(sql, out);
        const lines = opened.map((run) => `${run.application_id}  run ${run.run_id}`);
        out.answer({ runs: opened.map(toRunDocument), ...rest }, ...lines);
        return running.length > 0 ? EXIT.alreadyRunning : EXIT.done;
      }
      const ended = await waitForRuns(foundation, out, [...opened, ...alreadyRunning], timeout);
      out.document({ runs: ended.map(toRunDocument), ...rest });
      out.table(ended, ENDED_COLUMNS);
      for (const { application_id, reason } of ended) {
        if (reason !== null) out.note(`${application_id}: ${reason}`);
      }
      const others = alreadyRunning.filter(
        (run) => (full && !run.full) || (accept_withdrawals && !run.accept_withdrawals),
      );
      for (const { application_id } of others)
        out.note(
          `${application_id}: its run was open already, without the options given here. Repeat the command.`,
        );
      return exitCodeOfRuns(ended, others.length > 0);
    },
  });
};
