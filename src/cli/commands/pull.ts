import type { Command } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';
import { APPLICATION, WAIT } from '#src/cli/kit/parsers.ts';
import { reportPull } from '#src/cli/kit/wait.ts';

/** `catalogue pull` */
export const register = (program: Command): void =>
  defineCommand(program, 'pull', {
    examples: ['pull acme g-1001', 'pull acme g-1001 g-1002 --wait'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .argument('<application_game_id...>', "the games, by the application's ids")
        .option(...WAIT),
    run: async ({ openQueues, operate, out }, application_id, ids, { wait }) => {
      const { pullGames } = await import('#src/operations/pull-games.ts');
      const requested = await operate(pullGames, { application_id, application_game_ids: ids });
      return reportPull(await openQueues(), out, requested, wait === true);
    },
  });
