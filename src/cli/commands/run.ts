import type { Command } from '@commander-js/extra-typings';
import { listFailuresOfRun } from '#db/queries/failures.ts';
import { findRun } from '#db/queries/runs.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { defineListCommand, terminalColumns } from '#src/cli/kit/list-command.ts';
import { APPROVAL, parseNonEmpty, parseUuid, variadic } from '#src/cli/kit/parsers.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { NotFoundError, UsageError } from '#src/errors.ts';
import { failureList } from '#src/lists/failures.ts';
import {
  runDayList,
  runList,
  runPageList,
  runWithdrawalList,
  toFullRunDocument,
  toRunDocument,
} from '#src/lists/runs.ts';

const RUN = ['<run_id>', 'the run; its id may be cut short', parseShortId] as const;
const FAILURES_SHOWN = 20;

/** `catalogue run …` */
export const register = (program: Command): void => {
  const run = program.command('run');

  defineListCommand(run, 'list', runList, {
    summary: 'list runs, latest first',
    examples: ['run list', 'run list acme --limit 50', 'run list --outcome failed --since 24h'],
    newest: '-started_at',
    limit: { max: 1_000, byDefault: 20 },
  });

  defineCommand(run, 'show', {
    summary: 'show one run, with its failures that are still open',
    examples: ['run show 019a2b3c-4d5e'],
    paged: true,
    parameters: (command) => command.argument(...RUN),
    run: async ({ openDatabase, out }, prefix) => {
      const sql = await openDatabase();
      const run_id = await requireId(sql, 'sync_runs', prefix);
      const row = await findRun(sql, run_id);
      if (row === undefined) throw new NotFoundError('run', run_id);
      const failures = await listFailuresOfRun(sql, run_id, FAILURES_SHOWN + 1);
      const document = toFullRunDocument(row);
      out.record({ ...document, failures }, { ...document, outcome: row.outcome ?? 'open' });
      if (failures.length === 0) return;
      out.line();
      out.table(failures.slice(0, FAILURES_SHOWN), terminalColumns(failureList));
      if (failures.length > FAILURES_SHOWN)
        out.line(`More: npx catalogue failure list ${row.application_id}`);
    },
  });

  defineListCommand(run, 'days', runDayList, {
    summary: 'count the runs of each day (UTC) by outcome, latest first',
    details:
      'Also counts runs that are deleted: an application keeps its newest 20 runs, the newest of each outcome, and those of the last 24 hours.',
    examples: ['run days acme', 'run days --limit 30 --json'],
    limit: { max: 10_000, byDefault: 20 },
  });

  defineListCommand(run, 'pages', runPageList, {
    summary: 'list the pages of a run, latest first; of an ended run, those that found a change or a failure',
    examples: ['run pages 019a2b3c-4d5e'],
    limit: { max: 10_000, byDefault: 50 },
  });

  defineListCommand(run, 'withdrawals', runWithdrawalList, {
    summary: 'list the games that a suspect run would withdraw',
    examples: ['run withdrawals 019a2b3c-4d5e', 'run withdrawals 019a2b3c-4d5e --json'],
    limit: { max: 100_000, byDefault: 100 },
  });

  defineCommand(run, 'accept', {
    summary: 'withdraw the games that a suspect run did not name',
    details:
      'Names the games with --game, or accepts all of them. If two operators could, a second person approves it first, on the page of the run in the console; --approval then withdraws what was approved.',
    examples: [
      'run accept 019a2b3c-4d5e --by kim',
      'run accept 019a2b3c-4d5e --by kim --approval 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
    ],
    parameters: (command) =>
      command
        .argument(...RUN)
        .requiredOption('--by <who>', 'name of the operator who accepts it', parseNonEmpty)
        .option('--game <game_id...>', 'only this game; may be repeated', variadic(parseUuid))
        .option(...APPROVAL),
    run: async ({ openDatabase, operate, out }, prefix, { by, game, approval: approval_id }) => {
      if (game !== undefined && approval_id !== undefined)
        throw new UsageError('The approval names the games already: leave out --game.');
      const { acceptWithdrawals } = await import('#src/operations/withdrawals.ts');
      const run_id = await requireId(await openDatabase(), 'sync_runs', prefix);
      const withdrawn = await operate(acceptWithdrawals, { run_id, game_ids: game, approval_id }, { by });
      out.answer(withdrawn, `Withdrew ${formatCount(withdrawn.game_ids.length, 'game')}.`);
    },
  });

  defineCommand(run, 'cancel', {
    summary: 'end an open run',
    details:
      'The run ends as abandoned, and the audit log has the name. Its jobs leave the queue; an active one stops at its next write. What the run has stored stays, and the next run fetches the rest.',
    examples: ['run cancel 019a2b3c-4d5e', 'run cancel 019a2b3c-4d5e --by kim'],
    parameters: (command) =>
      command
        .argument(...RUN)
        .option(
          '--by <who>',
          'name of the operator (default: CATALOGUE_OPERATOR, or the system user)',
          parseNonEmpty,
        ),
    run: async ({ openDatabase, operate, out }, prefix, { by }) => {
      const { cancelRun } = await import('#src/operations/runs.ts');
      const run_id = await requireId(await openDatabase(), 'sync_runs', prefix);
      const { run: ended, cancelled } = await operate(cancelRun, { run_id }, { by });
      if (!cancelled) throw new UsageError(`The run has already ended: ${ended.outcome}.`);
      out.answer(toRunDocument(ended), `The run of ${ended.application_id} has ended: ${ended.reason}.`);
    },
  });
};
