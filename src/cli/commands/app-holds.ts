import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { APPLICATION, BY, parseNonEmpty } from '#src/cli/kit/parsers.ts';

/** Defines `app hold` and `app release`. */
export const defineHolds = (app: CommandUnknownOpts): void => {
  defineCommand(app, 'hold', {
    summary: 'hold its games: none of them is live, and none can be passed',
    details: 'Its passed games return to pending until app release. The developer reads the reason.',
    examples: ['app hold acme --reason "The rights to these games are in doubt."'],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .requiredOption('--reason <why>', 'what its developer reads', parseNonEmpty)
        .option(...BY),
    run: async ({ operate, out }, application_id, { reason, by }) => {
      const { holdApplication } = await import('#src/operations/holds.ts');
      const held = await operate(holdApplication, { application_id, reason }, { by });
      out.answer(held, `${application_id} is held: ${formatCount(held.games, 'game')} returned to pending.`);
    },
  });

  defineCommand(app, 'release', {
    summary: 'release its games: those that a hold returned to pending are live again',
    details: 'A game whose content or decision has changed since stays as it is.',
    examples: ['app release acme'],
    parameters: (command) => command.argument(...APPLICATION).option(...BY),
    run: async ({ operate, out }, application_id, { by }) => {
      const { releaseApplication } = await import('#src/operations/holds.ts');
      const released = await operate(releaseApplication, { application_id }, { by });
      const games = formatCount(released.games, 'game');
      out.answer(released, `${application_id} is no longer held: ${games} passed again.`);
    },
  });
};
