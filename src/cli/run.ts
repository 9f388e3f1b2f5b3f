import type { Command } from 'commander';
import { findRun, listRuns, type RunRow } from '#db/queries/runs.ts';
import { listOf, withDatabase } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { RUN_COLUMNS, runDocument } from '#src/cli/run-view.ts';
import { applicationId, formatMoment, integer, uuid } from '#src/cli/values.ts';
import { UsageError } from '#src/errors.ts';

const fullDocument = (run: RunRow) => ({
  ...runDocument(run),
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
  const run = program.command('run').description('Look at runs: what each pass over an application brought.');

  const list = defineCommand(run, 'list', {
    summary: 'list the latest runs',
    examples: ['run list', 'run list acme --limit 50'],
  })
    .argument('[application_id]', 'only this application', applicationId)
    .option('--limit <runs>', 'how many (default 20)', integer({ min: 1, max: 1_000 }));
  act<[string | undefined], { json?: boolean; limit?: number }>(
    list,
    async (context, options, application_id) => {
      const filter = { ...(application_id && { application_id }), limit: options.limit ?? 20 };
      const runs = await withDatabase(context, (sql) => listOf(sql, application_id, listRuns(sql, filter)));
      context.out.document({ runs: runs.map(fullDocument) });
      if (runs.length === 0) context.out.line('No run yet: npx catalogue sync --all');
      else {
        context.out.table(runs, [
          { header: 'started', value: (row) => formatMoment(row.started_at) },
          ...RUN_COLUMNS,
          { header: 'run_id', value: (row) => row.run_id },
        ]);
      }
      return undefined;
    },
  );

  const show = defineCommand(run, 'show', { summary: 'show one run', examples: ['run show 019a…'] }).argument(
    '<run_id>',
    'the run',
    uuid,
  );
  act<[string], { json?: boolean }>(show, async (context, _options, run_id) => {
    const row = await withDatabase(context, (sql) => findRun(sql, run_id));
    if (row === undefined)
      throw new UsageError(`There is no run ${run_id}: npx catalogue run list shows those there are.`);
    const document = fullDocument(row);
    context.out.document(document);
    context.out.table(Object.entries(document), [
      { header: 'field', value: ([field]) => field },
      {
        header: 'value',
        value: ([, value]) => (value instanceof Date ? formatMoment(value) : String(value ?? '')),
      },
    ]);
    return undefined;
  });
};
