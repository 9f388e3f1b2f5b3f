import type { Command } from '@commander-js/extra-typings';
import { findRun, listRuns, type RunRow } from '#db/queries/runs.ts';
import { defineCommand } from '#src/cli/command.ts';
import { limitTo, ONLY_APPLICATION, parseUuid } from '#src/cli/parsers.ts';
import { checkListFilter } from '#src/cli/require-application.ts';
import { RUN_COLUMNS, toRunDocument } from '#src/cli/runs.ts';
import { UsageError } from '#src/errors.ts';

const toFullDocument = (run: RunRow) => {
  const { trigger, full, total_last: total, next_page, started_at, progress_at, finished_at } = run;
  return { ...toRunDocument(run), trigger, full, total, next_page, started_at, progress_at, finished_at };
};

/** `catalogue run …` */
export const register = (program: Command): void => {
  const run = program.command('run');

  defineCommand(run, 'list', {
    summary: 'list runs, latest first',
    examples: ['run list', 'run list acme --limit 50'],
    parameters: (command) => command.argument(...ONLY_APPLICATION).option(...limitTo(1_000, 20)),
    run: async ({ openDatabase, out }, application_id, { limit }) => {
      const sql = await openDatabase();
      await checkListFilter(sql, application_id);
      const runs = await listRuns(sql, { application_id, limit });
      const documents = runs.map(toFullDocument);
      const empty = 'No runs. Start one with: npx catalogue sync --all';
      out.list({ runs: documents }, runs, ['started_at', ...RUN_COLUMNS, 'run_id'], empty);
    },
  });

  defineCommand(run, 'show', {
    summary: 'show one run',
    examples: ['run show 019a…'],
    parameters: (command) => command.argument('<run_id>', 'the run', parseUuid),
    run: async ({ openDatabase, out }, run_id) => {
      const row = await findRun(await openDatabase(), run_id);
      if (row === undefined)
        throw new UsageError(`There is no run ${run_id}. List them: npx catalogue run list`);
      out.record(toFullDocument(row));
    },
  });
};
