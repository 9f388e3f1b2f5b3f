import type { Command } from 'commander';
import { type FailureRow, listFailedGameIds, listFailures } from '#db/queries/failures.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { listOf, requireApplication, withDatabase, withFoundation } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { pullGames } from '#src/cli/sync.ts';
import { applicationId, formatMoment, integer } from '#src/cli/values.ts';
import { EXIT } from '#src/errors.ts';

const reasonsText = (row: FailureRow): string =>
  row.reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ');

/** `catalogue failure …` */
export const register = (program: Command): void => {
  const failure = program.command('failure').description('See what did not land and why, and try again.');

  const list = defineCommand(failure, 'list', {
    summary: 'list what did not land, the latest first',
    examples: ['failure list', 'failure list acme --json'],
  })
    .argument('[application_id]', 'only this application', applicationId)
    .option('--limit <failures>', 'how many (default 100)', integer({ min: 1, max: 10_000 }));
  act<[string | undefined], { json?: boolean; limit?: number }>(
    list,
    async (context, options, application_id) => {
      const filter = { ...(application_id && { application_id }), limit: options.limit ?? 100 };
      const failures = await withDatabase(context, (sql) =>
        listOf(sql, application_id, listFailures(sql, filter)),
      );
      context.out.document({ failures });
      if (failures.length === 0) context.out.line('Nothing failed.');
      else {
        context.out.table(failures, [
          { header: 'application_id', value: (row) => row.application_id },
          { header: 'operation', value: (row) => row.operation },
          { header: 'game', value: (row) => row.application_game_id },
          { header: 'kind', value: (row) => row.kind },
          { header: 'reasons', value: reasonsText },
          { header: 'count', value: (row) => row.count, right: true },
          { header: 'last', value: (row) => formatMoment(row.last_at) },
        ]);
      }
      return undefined;
    },
  );

  const retry = defineCommand(failure, 'retry', {
    summary: "pull an application's failed games again now",
    examples: ['failure retry acme', 'failure retry acme --wait'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .option('--wait', 'wait for the answer');
  act<[string], { json?: boolean; wait?: boolean }>(retry, (context, options, application_id) =>
    withFoundation(context, async (foundation) => {
      await requireApplication(foundation.sql, application_id);
      const ids = await listFailedGameIds(foundation.sql, application_id);
      if ((await findKycState(foundation.sql, application_id))?.state === 'failed')
        context.out.note(`Its developer's record failed too: npx catalogue kyc pull ${application_id}`);
      if (ids.length > 0)
        return pullGames(foundation, context.out, application_id, ids, options.wait === true);
      context.out.document({ application_id, games: 0, jobs: [] });
      context.out.line(`No game of ${application_id} failed.`);
      return EXIT.done;
    }),
  );
};
