import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CaseResult } from '#src/check/check-application.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import { parseApplicationId } from '#src/cli/parsers.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { EXIT } from '#src/errors.ts';

const LABEL: Record<CaseResult['outcome'], string> = {
  passed: 'passed ',
  failed: 'FAILED ',
  skipped: 'skipped',
};

const formatCase = ({ outcome, name, section, rule, ...details }: CaseResult): string[] => {
  const title = `${LABEL[outcome]}  ${name}`;
  const { problem = '', sent = '', came = '' } = details;
  if (outcome === 'passed') return [title];
  if (outcome === 'skipped') return [`${title}: ${problem}`];
  return [
    `${title}: ${problem}`,
    `           sent: ${sent}`,
    `           came: ${came}`,
    `           ${section === null ? 'the platform' : `section ${section}`} says: ${rule}`,
  ];
};

/** Defines `app check`: tests an application's webhooks against the interface document. */
export const defineCheck = (app: CommandUnknownOpts): void => {
  defineCommand(app, 'check', {
    summary: 'call its webhooks and check the answers against the interface document',
    details:
      'Calls the three webhooks from this machine, one after another, and stores nothing.\nExit 0 if every case passed, 3 if one failed. KYC values are masked and the token is not shown.',
    examples: ['app check acme', 'app check acme --json'],
  })
    .argument('<application_id>', 'the application', parseApplicationId)
    .action(
      withContext(async ({ config, openDatabase, out }, application_id) => {
        const { openKeyRing } = await import('#src/sealing/key-ring.ts');
        const { createTargetOpener } = await import('#src/ingest/open-target.ts');
        const { checkApplication } = await import('#src/check/check-application.ts');
        const { createEgressPolicy } = await import('#src/webhooks/egress.ts');
        const application = await requireApplication(await openDatabase(), application_id);
        const target = await createTargetOpener(await openKeyRing(config))(application);
        const onResult = (result: CaseResult) => {
          for (const line of formatCase(result)) out.line(line);
        };
        const egress = createEgressPolicy(config.webhooks);
        const cases = await checkApplication(target, egress, onResult, new AbortController().signal);
        const count = (outcome: CaseResult['outcome']) =>
          cases.filter((result) => result.outcome === outcome).length;
        const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
        out.answer(
          { application_id, ...counts, cases },
          `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
        );
        return counts.failed > 0 ? EXIT.partial : EXIT.done;
      }),
    );
};
