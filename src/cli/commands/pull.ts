import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { APPLICATION, variadic, WAIT } from '#src/cli/kit/parsers.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import { reportPull } from '#src/cli/kit/wait.ts';
import { IDENTIFIER_MAX, identifier } from '#src/contract/text.ts';

/** Parses an application's own id of a game (interface document, section 2.4). */
export const parseApplicationGameId = (text: string): string => {
  if (identifier.safeParse(text).success) return text;
  throw new InvalidArgumentError(
    `Give an id of 1 to ${IDENTIFIER_MAX} characters, as the application sends it.`,
  );
};

/** `catalogue pull` */
export const register = (program: Command): void =>
  defineCommand(program, 'pull', {
    examples: ['pull acme g-1001', 'pull acme g-1001 g-1002 --wait'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .argument(
          '<application_game_id...>',
          "the games, by the application's ids",
          variadic(parseApplicationGameId),
        )
        .option(...WAIT),
    run: async ({ openQueues, out }, application_id, ids, { wait }) => {
      const foundation = await openQueues();
      await requireApplication(foundation.sql, application_id);
      const { pullGames } = await import('#src/actions/pull-games.ts');
      const requested = await pullGames(foundation.sql, commandLineActor(), application_id, ids);
      return reportPull(foundation, out, requested, wait === true);
    },
  });
