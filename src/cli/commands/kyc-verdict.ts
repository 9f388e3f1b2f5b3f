import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { findDeveloper } from '#db/queries/kyc-list.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, APPROVAL, parseNonEmpty } from '#src/cli/kit/parsers.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import { verdictList } from '#src/lists/kyc.ts';

/** Defines `kyc verdict` and `kyc verdicts`. */
export const registerVerdicts = (kyc: CommandUnknownOpts): void => {
  defineCommand(kyc, 'verdict', {
    summary: 'give a verdict on the developer of an application',
    details:
      'The verdict is on the stored version of the KYC record. It ends when the record changes in a field other than cp_short_name, when it is erased, when the application is removed, and at its time. With GAMES_NEED_VERDICT=true, no game is passed without a standing verdict "verified".',
    examples: [
      'kyc verdict acme verified --by kim --reason "register extract of 3 May"',
      'kyc verdict acme incomplete --by kim --reason "ticket 4711" --text "The tax id is missing."',
    ],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .addArgument(new Argument('<verdict>', 'the verdict').choices(VERDICTS))
        .requiredOption('--by <who>', 'name of the officer who gives it', parseNonEmpty)
        .requiredOption('--reason <why>', 'why, for the audit log', parseNonEmpty)
        .option('--text <public>', "a text for the application's developer", parseNonEmpty)
        .option('--expires <duration>', 'when it ends, from now (default: "365d")', parseNonEmpty)
        .option(...APPROVAL),
    run: async (
      { openDatabase, operate, out },
      application_id,
      verdict,
      { by, reason, text, expires, approval: approval_id },
    ) => {
      const { giveVerdict } = await import('#src/operations/verdicts.ts');
      const developer = await findDeveloper(await openDatabase(), application_id);
      if (developer?.record_id == null)
        throw new CatalogueError(
          `${application_id} has no KYC record: there is nothing to give a verdict on.`,
        );
      const { record_id } = developer;
      const given = { application_id, record_id, verdict, reason, text, expires, approval_id };
      const row = await operate(giveVerdict, given, { by });
      out.answer(row, `${application_id}: ${verdict}, until ${row.expires_at.toISOString()}.`);
    },
  });

  defineListCommand(kyc, 'verdicts', verdictList, {
    summary: 'list the verdicts on developers, latest first',
    examples: ['kyc verdicts', 'kyc verdicts acme', 'kyc verdicts --ends-soon'],
    limit: { max: 10_000, byDefault: 100 },
  });
};
