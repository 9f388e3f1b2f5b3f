import type { Command } from '@commander-js/extra-typings';
import { checkWrittenWebhooks } from '#src/cli/commands/app-settings.ts';
import { type Change, planChanges } from '#src/cli/commands/apply-plan.ts';
import { warnOfInstallationKey } from '#src/cli/commands/given-access-token.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { isInteractive, openPrompt } from '#src/cli/kit/prompt.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';

const describe = ({ sign, subject, fields }: Change): string[] => [
  `${sign} ${subject}`,
  ...fields.map(({ field, from, to }) =>
    from === undefined
      ? `    ${field}: ${field === 'access_token' ? to : JSON.stringify(to)}`
      : `    ${field}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`,
  ),
];

/** Confirms that applications are removed, on a terminal by their number. */
const confirmRemoval = async ({ out }: CommandContext, removed: readonly string[]): Promise<void> => {
  const what = `${formatCount(removed.length, 'application')} (${removed.slice(0, 5).join(', ')}${removed.length > 5 ? ', …' : ''})`;
  if (!isInteractive(out)) throw new UsageError(`--prune removes ${what}: add --yes. Nothing was changed.`);
  using prompt = openPrompt(out);
  const question = `Remove ${what}, withdraw their games and revoke their API tokens? Type their number to confirm: `;
  if ((await prompt.ask(question)) !== String(removed.length))
    throw new CatalogueError('Nothing was changed.');
};

/** `catalogue apply` */
export const register = (program: Command): void => {
  defineCommand(program, 'apply', {
    details: [
      'Adds and changes what differs, in one transaction: a wrong line changes nothing, and a second call has 0 changes.',
      'Without --prune, what the file does not name stays as it is; with it, a part that the file does not have',
      '(applications, reasons) stays, and applications are removed afterwards, one by one.',
      'Only a new application must have a token; another one keeps its own. app export writes the file.',
    ].join(' '),
    examples: ['apply --file catalogue.yaml --dry-run', 'apply --file catalogue.yaml --prune --yes'],
    parameters: (command) =>
      command
        .requiredOption('--file <file>', 'the file, in YAML ("-": stdin)')
        .option('--dry-run', 'print the changes and make none')
        .option('--prune', 'remove applications and retire reasons that the file does not name')
        .option('--yes', 'do not request confirmation of --prune'),
    run: async (context, { file, dryRun, prune, yes }) => {
      const { openDatabase, openKeys, operate, operateAll, env, config, out } = context;
      const { readWanted } = await import('#src/cli/commands/apply-file.ts');
      const wanted = await readWanted(file, out.stdio.stdin, { env, home: config.home });
      const { changes, planned, removed } = await planChanges(
        await openDatabase(),
        wanted,
        openKeys,
        prune === true,
      );
      for (const change of changes) for (const line of describe(change)) out.line(line);
      await checkWrittenWebhooks(
        context,
        planned.map(({ given }) => given),
      );
      if (dryRun !== true && changes.length > 0) {
        if (removed.length > 0 && yes !== true) await confirmRemoval(context, removed);
        const [added] = changes.filter(
          ({ sign, subject }) => sign === '+' && subject.startsWith('application'),
        );
        if (added !== undefined)
          await warnOfInstallationKey(context, added.subject.slice('application '.length));
        if (planned.length > 0) await operateAll(planned);
        const { removeApplication } = await import('#src/operations/remove-application.ts');
        for (const application_id of removed) await operate(removeApplication, { application_id });
      }
      const total = formatCount(changes.length, 'change');
      out.answer(
        { changes, dry_run: dryRun === true },
        dryRun === true ? `${total}, not made.` : `${total}.`,
      );
    },
  });
};
