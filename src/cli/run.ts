import type { Command } from '@commander-js/extra-typings';
import { findRun, listRuns, type RunRow } from '#db/queries/runs.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { integerBetween, parseApplicationId, parseUuid } from '#src/cli/parsers.ts';
import { checkListFilter } from '#src/cli/require-application.ts';
import { RUN_COLUMNS, toRunDocument } from '#src/cli/run-table.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';
import { UsageError } from '#src/errors.ts';

const toFullDocument = (run: RunRow) => ({
  ...toRunDocument(run),
  trigger: run.trigger,
  full: run.full,
  total: run.total_last,
  next_page: run.next_page,
  started_at: run.started_at,
  progress_at: run.progress_at,
  finished_at: run.finished_at,
});

/** `catalogue run …` */
export const register = (program: Command): void => {
  const run = program.command('run').description(SUMMARIES.run);

  defineCommand(run, 'list', {
    summary: 'list runs, latest first',
    examples: ['run list', 'run list acme --limit 50'],
  })
    .argument('[application_id]', 'only this application', parseApplicationId)
    .option('--limit <runs>', 'maximum number of runs', integerBetween(1, 1_000), 20)
    .action(
      withContext(async ({ openDatabase, out }, application_id, { limit }) => {
        const sql = await openDatabase();
        await checkListFilter(sql, application_id);
        const runs = await listRuns(sql, { application_id, limit });
        out.list(
          { runs: runs.map(toFullDocument) },
          runs,
          [['started', 'started_at'], ...RUN_COLUMNS, 'run_id'],
          'No runs. Start one with: npx catalogue sync --all',
        );
      }),
    );

  defineCommand(run, 'show', { summary: 'show one run', examples: ['run show 019a…'] })
    .argument('<run_id>', 'the run', parseUuid)
    .action(
      withContext(async ({ openDatabase, out }, run_id) => {
        const row = await findRun(await openDatabase(), run_id);
        if (row === undefined)
          throw new UsageError(`There is no run ${run_id}. List them: npx catalogue run list`);
        out.record(toFullDocument(row));
      }),
    );
};
