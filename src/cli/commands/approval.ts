import type { Command } from '@commander-js/extra-typings';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { approvalList } from '#src/lists/approvals.ts';

/** `catalogue approval …` */
export const register = (program: Command): void => {
  const approval = program.command('approval');

  defineListCommand(approval, 'list', approvalList, {
    summary: 'list what waits for a second person, or was approved',
    details:
      'Operators make and approve requests where they are signed in: at the KYC desk, and on the page of a suspect run in the console. A name on the command line is a claim. With the id, the operator who asked uses an approval once: kyc show --reveal, kyc erase, kyc accept-cp-id, run accept and sync --accept-withdrawals have --approval.',
    examples: ['approval list', 'approval list --all --kind reveal --json'],
    limit: { max: 10_000, byDefault: 100 },
  });
};
