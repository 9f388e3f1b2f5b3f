import type { Command } from '@commander-js/extra-typings';
import { FAILURE_SORTS, listOpenFailures } from '#db/queries/health.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { FAILURE_COLUMNS } from '#src/cli/commands/runs.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { APPLICATION, ONLY_APPLICATION, SINCE, searchIn, WAIT } from '#src/cli/kit/parsers.ts';
import { reportPull } from '#src/cli/kit/wait.ts';
import { EXIT } from '#src/errors.ts';

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure');

  defineList(failure, 'list', {
    summary: 'list open failures, latest first',
    details: 'Failures of games, of KYC records, and of the latest run of each application.',
    examples: ['failure list', 'failure list acme --json'],
    parameters: (command) =>
      command
        .argument(...ONLY_APPLICATION)
        .option(...searchIn('game, kind or reason'))
        .option(...SINCE),
    order: '-last_at',
    newest: '-last_at',
    sorts: FAILURE_SORTS,
    limit: { max: 10_000, byDefault: 100 },
    filter: (application_id, { search, since }) => ({ application_id, search, since }),
    list: listOpenFailures,
    key: 'failures',
    columns: FAILURE_COLUMNS,
    empty: 'No failures.',
  });

  defineCommand(failure, 'retry', {
    summary: 'pull the failed games of an application now',
    examples: ['failure retry acme', 'failure retry acme --wait'],
    parameters: (command) => command.argument(...APPLICATION).option(...WAIT),
    run: async ({ openQueues, operate, out }, application_id, { wait }) => {
      const foundation = await openQueues();
      if ((await findKycState(foundation.sql, application_id))?.state === 'failed')
        out.note(`Its KYC record failed too: npx catalogue kyc pull ${application_id}`);
      const { retryFailures } = await import('#src/operations/pull-games.ts');
      const requested = await operate(retryFailures, { application_id });
      if (requested.games.length > 0) return reportPull(foundation, out, requested, wait === true);
      out.answer({ application_id, games: 0 }, `No failed games of ${application_id}.`);
      return EXIT.done;
    },
  });
};
