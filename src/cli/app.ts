import type { Command } from '@commander-js/extra-typings';
import { listApplications, removeApplication, setApplicationStatus } from '#db/queries/applications.ts';
import { defineCheck } from '#src/cli/app-check.ts';
import { defineAdd, defineUpdate } from '#src/cli/app-register.ts';
import { formatTrouble, toApplicationDocument } from '#src/cli/application-document.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { formatDuration } from '#src/cli/format.ts';
import { parseApplicationId } from '#src/cli/parsers.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';

/** `catalogue app …` */
export const register = (program: Command): void => {
  const app = program.command('app').description(SUMMARIES.app);
  defineAdd(app);
  defineUpdate(app);

  defineCommand(app, 'list', {
    summary: 'list the applications',
    examples: ['app list', 'app list --json'],
  }).action(
    withContext(async ({ openDatabase, out }) => {
      const rows = await listApplications(await openDatabase());
      out.list(
        { applications: rows.map(toApplicationDocument) },
        rows,
        [
          'application_id',
          'name',
          'status',
          ['every', (row) => formatDuration(row.every_ms)],
          ['kyc every', (row) => formatDuration(row.kyc_every_ms)],
          ['registered', 'created_at'],
          ['reason', formatTrouble],
        ],
        'No application is registered: npx catalogue app add --help',
      );
    }),
  );

  defineCommand(app, 'show', { summary: 'show one application', examples: ['app show acme'] })
    .argument('<application_id>', 'the application', parseApplicationId)
    .action(
      withContext(async ({ openDatabase, out }, application_id) => {
        out.record(toApplicationDocument(await requireApplication(await openDatabase(), application_id)));
      }),
    );

  const changes = [
    { name: 'pause', summary: 'stop its schedules; an open run finishes', status: 'paused' },
    { name: 'resume', summary: 'start its schedules again', status: 'active' },
  ] as const;
  for (const { name, summary, status } of changes) {
    defineCommand(app, name, { summary, examples: [`app ${name} acme`] })
      .argument('<application_id>', 'the application', parseApplicationId)
      .action(
        withContext(async ({ openDatabase, out }, application_id) => {
          const sql = await openDatabase();
          await requireApplication(sql, application_id);
          await setApplicationStatus(sql, application_id, status);
          out.answer({ application_id, status }, `${application_id} is ${status}.`);
        }),
      );
  }

  defineCheck(app);

  defineCommand(app, 'remove', {
    summary: 'remove an application',
    details:
      'Its webhooks are no longer called. Its access token is deleted, its games are withdrawn and its API tokens revoked. Games, revisions and decisions stay readable.',
    examples: ['app remove acme'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .action(
      withContext(async ({ openDatabase, out }, application_id) => {
        const sql = await openDatabase();
        await requireApplication(sql, application_id);
        await removeApplication(sql, application_id);
        out.answer(
          { application_id, status: 'removed' },
          `Removed ${application_id}. Its games are withdrawn and its API tokens revoked.`,
        );
      }),
    );
};
