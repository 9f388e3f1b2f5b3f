import type { Command } from '@commander-js/extra-typings';
import { findKycState } from '#db/queries/kyc.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, WAIT } from '#src/cli/kit/parsers.ts';
import { reportPull } from '#src/cli/kit/wait.ts';
import { EXIT } from '#src/errors.ts';
import { failureGroupList, failureList } from '#src/lists/failures.ts';

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure');

  defineListCommand(failure, 'list', failureList, {
    summary: 'list open failures, latest first',
    details: 'Failures of games, of KYC records, and of the latest run of each application.',
    examples: ['failure list', 'failure list --outcome failed', 'failure list acme --json'],
    newest: '-last_at',
    limit: { max: 10_000, byDefault: 100 },
  });

  defineListCommand(failure, 'groups', failureGroupList, {
    summary: 'group the latest failures of games and KYC records by what the application must fix',
    examples: ['failure groups', 'failure groups acme --sort -last_at'],
    limit: { max: 1_000, byDefault: 100 },
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
