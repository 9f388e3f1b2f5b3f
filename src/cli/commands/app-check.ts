import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CaseResult } from '#src/check/check-application.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION } from '#src/cli/kit/parsers.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import { EXIT } from '#src/errors.ts';
import { checkList } from '#src/lists/checks.ts';

const LABELS = { passed: 'passed ', failed: 'FAILED ', skipped: 'skipped' };

const formatCase = ({ outcome, name, section, quote, rule, ...details }: CaseResult): string[] => {
  const title = `${LABELS[outcome]}  ${name}`;
  const { problem = '', sent = '', came = '', note } = details;
  if (outcome === 'passed') return [note === undefined ? title : `${title}: ${note}`];
  if (outcome === 'skipped') return [`${title}: ${problem}`];
  return [
    `${title}: ${problem}`,
    `           sent: ${sent}`,
    `           came: ${came}`,
    `           rule: ${rule}`,
    ...(quote === undefined ? [] : [`           section ${section} says: ${quote}`]),
  ];
};

/** Lists what a terminal shows: the cases that failed or have a note, and how many were skipped for each reason. */
const foldCases = (cases: readonly CaseResult[]): string[] => {
  const shown = cases.filter(({ outcome, note }) => outcome === 'failed' || note !== undefined);
  const skipped = cases.filter(({ outcome }) => outcome === 'skipped');
  const reasons = [...Map.groupBy(skipped, ({ problem }) => problem)].map(
    ([problem, those]) => `${LABELS.skipped}  ${those.length} of ${cases.length}: ${problem}`,
  );
  return [...shown.flatMap(formatCase), ...reasons];
};

/** Defines `app check`, which tests an application's webhooks against the interface document, and `app checks`. */
export const defineChecks = (app: CommandUnknownOpts): void => {
  defineCommand(app, 'check', {
    summary: 'call its webhooks and check the answers against the interface document',
    details: [
      'Calls the three webhooks from this machine, and stores nothing. Reads up to 20 pages of the list, and ten details.',
      'Exit 0 if every case passed, 3 if one failed. KYC values are masked and the token is not shown.',
      'A terminal shows what failed; a pipe and --json every case.',
    ].join('\n'),
    examples: ['app check acme', 'app check acme --json'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ config, openDatabase, openKeys, out }, application_id) => {
      const { createTargetOpener } = await import('#src/ingest/open-target.ts');
      const { CASES, checkApplication } = await import('#src/check/check-application.ts');
      const { createEgressPolicy } = await import('#src/egress/egress.ts');
      const application = await requireApplication(await openDatabase(), application_id);
      const opened = await createTargetOpener(await openKeys())(application);
      const target = { ...opened, every_ms: application.every_ms, concurrency: application.concurrency };
      const isFolded = out.stdio.stdout.isTTY;
      // Without lines between, which would break the bar.
      const progress = isFolded ? openProgress(out, [application_id], 'cases') : undefined;
      let done = 0;
      progress?.update(application_id, done, CASES.length);
      const onResult = (result: CaseResult) => {
        done += 1;
        progress?.update(application_id, done, CASES.length);
        if (!isFolded) for (const line of formatCase(result)) out.line(line);
      };
      const egress = createEgressPolicy(config.webhooks);
      const cases = await checkApplication(target, egress, {
        onResult,
        signal: new AbortController().signal,
      });
      progress?.stop();
      if (isFolded) for (const line of foldCases(cases)) out.line(line);
      const counts = { passed: 0, failed: 0, skipped: 0 };
      for (const { outcome } of cases) counts[outcome] += 1;
      out.answer(
        { application_id, ...counts, cases },
        `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
      );
      return counts.failed > 0 ? EXIT.partial : EXIT.done;
    },
  });

  defineListCommand(app, 'checks', checkList, {
    summary: 'list the reports of the checks that were requested at a page or by the operator API',
    examples: ['app checks acme', 'app checks acme --limit 1 --json'],
    limit: { max: 10, byDefault: 10 },
  });
};
