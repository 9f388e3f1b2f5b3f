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
      const pulled = await operate(pullGames, { application_id, application_game_ids: ids });
      // The same id may be given twice.
      const application_game_id = pulled.games === 1 ? ids[0] : undefined;
      return reportPull(
        await openQueues(),
        out,
        { application_id, application_game_id },
        pulled,
        wait === true,
      );
    },
  });
