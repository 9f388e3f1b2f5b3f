import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { findVersion } from '#db/queries/approvals.ts';
import { findDeveloper } from '#db/queries/kyc-list.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, APPROVAL, parseNonEmpty, parseUuid } from '#src/cli/kit/parsers.ts';
import { askYesNo, isInteractive } from '#src/cli/kit/prompt.ts';
import { VERDICTS, type Verdict } from '#src/contract/words.ts';
import { CatalogueError, NotFoundError, UsageError } from '#src/errors.ts';
import { verdictList } from '#src/lists/kyc.ts';

type Given = { record: string | undefined; approval: string | undefined };

/** The version of the record that the officer saw: the given one, or the one that is shown on a terminal and confirmed. */
const confirmRecord = async (
  { openDatabase, openKeys, out }: CommandContext,
  application_id: string,
  verdict: Verdict,
  { record: given, approval }: Given,
): Promise<{ record_id: string; seen?: string | undefined }> => {
  const sql = await openDatabase();
  const known = await findDeveloper(sql, application_id);
  if (known === undefined) throw new NotFoundError('application', application_id);
  if (given !== undefined) return { record_id: given };
  const { record_id } = known;
  if (record_id === null)
    throw new CatalogueError(`${application_id} has no KYC record: there is nothing to give a verdict on.`);
  // An approval is void if the record has changed since it was requested.
  if (approval !== undefined) return { record_id };
  if (!isInteractive(out))
    throw new UsageError(
      `Name the record that you saw (npx catalogue kyc show ${application_id} prints its record_id): npx catalogue kyc verdict ${application_id} ${verdict} --by WHO --reason TEXT --record ID`,
    );
  const seen = (await findVersion(sql, 'verdict', `application:${application_id}`)) ?? undefined;
  const { showKyc } = await import('#src/kyc/read-record.ts');
  const { record, ...developer } = await showKyc(sql, await openKeys(), application_id);
  const { record_cp_id: cp_id, verdict: former, verdict_state } = developer;
  out.record({ record_id, cp_id, ...record, verdict: former, verdict_state });
  if (await askYesNo(out, `Give the verdict ${verdict} on this record?`)) return { record_id, seen };
  throw new CatalogueError('Nothing was decided.');
};

/** Defines `kyc verdict` and `kyc verdicts`. */
export const registerVerdicts = (kyc: CommandUnknownOpts): void => {
  defineCommand(kyc, 'verdict', {
    summary: 'give a verdict on the developer of an application',
    details:
      'The verdict is on the version of the KYC record that you saw. Without --record, the command shows the masked record and asks; without a terminal it is refused. It ends when the record changes in a field other than cp_short_name, when it is erased, when the application is removed, and at its time. With GAMES_NEED_VERDICT=true, no game is passed without a standing verdict "verified".',
    examples: [
      'kyc verdict acme verified --by kim --reason "register extract of 3 May"',
      'kyc verdict acme verified --by kim --reason "ticket 4711" --record 019a2b3c-…',
      'kyc verdict acme incomplete --by kim --reason "ticket 4711" --text "The tax id is missing."',
    ],
    parameters: (command) =>
      command
        .argument(...APPLICATION)
        .addArgument(new Argument('<verdict>', 'the verdict').choices(VERDICTS))
        .requiredOption('--by <who>', 'name of the officer who gives it', parseNonEmpty)
        .requiredOption('--reason <why>', 'why, for the audit log', parseNonEmpty)
        .option('--record <id>', 'version of the record that you saw, as kyc show prints it', parseUuid)
        .option('--text <public>', "a text for the application's developer", parseNonEmpty)
        .option('--expires <duration>', 'when it ends, from now (default: "365d")', parseNonEmpty)
        .option(...APPROVAL),
    run: async (context, application_id, verdict, { by, record, approval: approval_id, ...terms }) => {
      const { operate, out } = context;
      const { giveVerdict } = await import('#src/operations/verdicts.ts');
      const seen = await confirmRecord(context, application_id, verdict, { record, approval: approval_id });
      const row = await operate(
        giveVerdict,
        { application_id, ...seen, verdict, ...terms, approval_id },
        { by },
      );
      out.answer(row, `${application_id}: ${verdict}, until ${row.expires_at.toISOString()}.`);
    },
  });

  defineListCommand(kyc, 'verdicts', verdictList, {
    summary: 'list the verdicts on developers, latest first',
    examples: ['kyc verdicts', 'kyc verdicts acme', 'kyc verdicts --ends-soon'],
    limit: { max: 10_000, byDefault: 100 },
  });
};
