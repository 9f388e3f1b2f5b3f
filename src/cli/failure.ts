import type { Command } from '@commander-js/extra-typings';
import { FAILURE_SORTS, listOpenFailures } from '#db/queries/health.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { commandLineActor } from '#src/cli/actor.ts';
import { defineCommand } from '#src/cli/command.ts';
import { FAILURE_COLUMNS } from '#src/cli/failure-columns.ts';
import { CURSOR, choosePage, NEWEST, printPage, SINCE, searchIn, sortBy } from '#src/cli/list-options.ts';
import { APPLICATION, limitTo, ONLY_APPLICATION, WAIT } from '#src/cli/parsers.ts';
import { checkListFilter, requireApplication } from '#src/cli/require-application.ts';
import { reportPull } from '#src/cli/wait.ts';
import { EXIT } from '#src/errors.ts';

const LATEST = { sort: 'last_at', descending: true } as const;

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure');

  defineCommand(failure, 'list', {
    summary: 'list open failures, latest first',
    details: 'Failures of games, of KYC records, and of the latest run of each application.',
    examples: ['failure list', 'failure list acme --json'],
    paged: true,
    parameters: (command) =>
      command
        .argument(...ONLY_APPLICATION)
        .option(...searchIn('game, kind or reason'))
        .option(...SINCE)
        .addOption(sortBy(FAILURE_SORTS))
        .option(...NEWEST)
        .option(...limitTo({ max: 10_000, byDefault: 100 }))
        .option(...CURSOR),
    run: async ({ openDatabase, out }, application_id, { search, since, ...options }) => {
      const sql = await openDatabase();
      await checkListFilter(sql, application_id);
      const page = choosePage(options, { byDefault: LATEST });
      const listed = await listOpenFailures(sql, { application_id, search, since }, page);
      printPage(out, 'failures', page, listed, { columns: FAILURE_COLUMNS, empty: 'No failures.' });
    },
  });

  defineCommand(failure, 'retry', {
    summary: 'pull the failed games of an application now',
    examples: ['failure retry acme', 'failure retry acme --wait'],
    parameters: (command) => command.argument(...APPLICATION).option(...WAIT),
    run: async ({ openQueues, out }, application_id, { wait }) => {
      const foundation = await openQueues();
      await requireApplication(foundation.sql, application_id);
      if ((await findKycState(foundation.sql, application_id))?.state === 'failed')
        out.note(`Its KYC record failed too: npx catalogue kyc pull ${application_id}`);
      const { retryFailedGames } = await import('#src/actions/pull-games.ts');
      const retried = await retryFailedGames(foundation, commandLineActor(), application_id);
      if (retried.games > 0) return reportPull(foundation, out, { application_id }, retried, wait === true);
      out.answer({ application_id, games: 0, jobs: [] }, `No failed games of ${application_id}.`);
      return EXIT.done;
    },
  });
};
