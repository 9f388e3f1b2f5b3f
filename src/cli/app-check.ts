import type { Command } from 'commander';
import type { CaseResult } from '#src/check/check-application.ts';
import { requireApplication, withDatabase } from '#src/cli/connect.ts';
import { act, type CommandContext, defineCommand } from '#src/cli/frame.ts';
import { applicationId } from '#src/cli/values.ts';
import { EXIT } from '#src/errors.ts';

const MARK: Record<CaseResult['outcome'], string> = {
  passed: 'passed ',
  failed: 'FAILED ',
  skipped: 'skipped',
};

const linesOf = ({ outcome, name, section, rule, ...found }: CaseResult): string[] => {
  const head = `${MARK[outcome]}  ${name}`;
  const { problem = '', sent = '', came = '' } = found;
  if (outcome === 'passed') return [head];
  if (outcome === 'skipped') return [`${head}: ${problem}`];
  return [
    `${head}: ${problem}`,
    `           sent: ${sent}`,
    `           came: ${came}`,
    `           ${section === null ? 'the platform' : `section ${section}`} says: ${rule}`,
  ];
};

const loadTarget = async (context: CommandContext, application_id: string) => {
  const { openKeyRing } = await import('#src/sealing/key-ring.ts');
  const { createTargetOpener } = await import('#src/ingest/open-target.ts');
  const application = await withDatabase(context, (sql) => requireApplication(sql, application_id));
  return createTargetOpener(await openKeyRing(context.config))(application);
};

/** `catalogue app check`: does an application answer as the interface document says? */
export const registerAppCheck = (app: Command): void => {
  const check = defineCommand(app, 'check', {
    summary: 'call its webhooks and see whether they answer as the interface document says',
    details:
      'Calls the three webhooks from this machine, one after another, and writes nothing down.\nExit 0 when every case passed, 3 when one failed. KYC values are masked, the token is not shown.',
    examples: ['app check acme', 'app check acme --json'],
  }).argument('<application_id>', 'the application', applicationId);
  act<[string], { json?: boolean }>(check, async (context, _options, application_id) => {
    const { out } = context;
    const { checkApplication } = await import('#src/check/check-application.ts');
    const { createEgressPolicy } = await import('#src/webhooks/egress.ts');
    const target = await loadTarget(context, application_id);
    const say = (result: CaseResult) => {
      for (const line of linesOf(result)) out.line(line);
    };
    const egress = createEgressPolicy(context.config.webhooks);
    const cases = await checkApplication(target, egress, say, new AbortController().signal);
    const count = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length;
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    out.document({ application_id, ...counts, cases });
    out.line(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    return counts.failed > 0 ? EXIT.partial : EXIT.done;
  });
};
