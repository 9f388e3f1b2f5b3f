import type { Command } from '@commander-js/extra-typings';
import { type FailureRow, listFailedGameIds, listFailures } from '#db/queries/failures.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { integerBetween, parseApplicationId } from '#src/cli/parsers.ts';
import { pullGames } from '#src/cli/pull-games.ts';
import { checkListFilter, requireApplication } from '#src/cli/require-application.ts';
import { SUMMARIES } from '#src/cli/summaries.ts';
import { EXIT } from '#src/errors.ts';

const formatReasons = ({ reasons }: FailureRow): string =>
  reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ');

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure').description(SUMMARIES.failure);

  defineCommand(failure, 'list', {
    summary: 'list open failures, latest first',
    examples: ['failure list', 'failure list acme --json'],
  })
    .argument('[application_id]', 'only this application', parseApplicationId)
    .option('--limit <failures>', 'maximum number of failures', integerBetween(1, 10_000), 100)
    .action(
      withContext(async ({ openDatabase, out }, application_id, { limit }) => {
        const sql = await openDatabase();
        await checkListFilter(sql, application_id);
        const failures = await listFailures(sql, { application_id, limit });
        out.list(
          { failures },
          failures,
          [
            'application_id',
            'operation',
            ['game', 'application_game_id'],
            'kind',
            ['reasons', formatReasons],
            'count',
            ['last', 'last_at'],
          ],
          'No failures.',
        );
      }),
    );

  defineCommand(failure, 'retry', {
    summary: 'pull the failed games of an application now',
    examples: ['failure retry acme', 'failure retry acme --wait'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .option('--wait', 'wait for the result')
    .action(
      withContext(async ({ openQueues, out }, application_id, { wait }) => {
        const foundation = await openQueues();
        await requireApplication(foundation.sql, application_id);
        const ids = await listFailedGameIds(foundation.sql, application_id);
        if ((await findKycState(foundation.sql, application_id))?.state === 'failed')
          out.note(`Its KYC record failed too: npx catalogue kyc pull ${application_id}`);
        if (ids.length > 0) return pullGames(foundation, out, application_id, ids, { wait });
        out.answer({ application_id, games: 0, jobs: [] }, `No failed games of ${application_id}.`);
        return EXIT.done;
      }),
    );
};
