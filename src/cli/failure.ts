import type { Command } from '@commander-js/extra-typings';
import { type FailureRow, listFailedGameIds, listFailures } from '#db/queries/failures.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { defineCommand } from '#src/cli/command.ts';
import type { Column } from '#src/cli/output.ts';
import { APPLICATION, limitTo, ONLY_APPLICATION, WAIT } from '#src/cli/parsers.ts';
import { checkListFilter, requireApplication } from '#src/cli/require-application.ts';
import { pullGames } from '#src/cli/wait.ts';
import { EXIT } from '#src/errors.ts';

const formatReasons = ({ reasons }: FailureRow): string =>
  reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ');

const GAME: Column<FailureRow> = ['game', 'application_game_id'];
const REASONS: Column<FailureRow> = ['reasons', formatReasons];

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure');

  defineCommand(failure, 'list', {
    summary: 'list open failures, latest first',
    examples: ['failure list', 'failure list acme --json'],
    parameters: (command) => command.argument(...ONLY_APPLICATION).option(...limitTo(10_000, 100)),
    run: async ({ openDatabase, out }, application_id, { limit }) => {
      const sql = await openDatabase();
      await checkListFilter(sql, application_id);
      const failures = await listFailures(sql, { application_id, limit });
      out.list(
        { failures },
        failures,
        ['application_id', 'operation', GAME, 'kind', REASONS, 'count', 'last_at'],
        'No failures.',
      );
    },
  });

  defineCommand(failure, 'retry', {
    summary: 'pull the failed games of an application now',
    examples: ['failure retry acme', 'failure retry acme --wait'],
    parameters: (command) => command.argument(...APPLICATION).option(...WAIT),
    run: async ({ openQueues, out }, application_id, { wait }) => {
      const foundation = await openQueues();
      await requireApplication(foundation.sql, application_id);
      const ids = await listFailedGameIds(foundation.sql, application_id);
      if ((await findKycState(foundation.sql, application_id))?.state === 'failed')
        out.note(`Its KYC record failed too: npx catalogue kyc pull ${application_id}`);
      if (ids.length > 0) return pullGames(foundation, out, application_id, ids, wait === true);
      out.answer({ application_id, games: 0, jobs: [] }, `No failed games of ${application_id}.`);
      return EXIT.done;
    },
  });
};
