import { type Command, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { type ApprovalFilter, type ApprovalRow, listApprovalPage } from '#db/queries/approvals.ts';
import type { ListPage } from '#db/queries/list-page.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';

const toDocument = ({ approval_id, kind, subject, version, asked, state, ...row }: ApprovalRow) => {
  const { reason, asked_by, asked_at, approved_by, approved_at, expires_at, used_at } = row;
  return {
    ...{ approval_id, kind, subject, version, ...asked, state, reason },
    ...{ asked_by, asked_at, approved_by, approved_at, expires_at, used_at },
  };
};

/** `catalogue approval …` */
export const register = (program: Command): void => {
  const approval = program.command('approval');

  defineList(approval, 'list', {
    summary: 'list what waits for a second person, or was approved',
    details:
      'Operators ask and approve where they are signed in: at the KYC desk, and on the page of a suspect run in the console. A name on the command line is a claim. With the id, the operator who asked uses an approval once: kyc show --reveal, kyc erase, kyc accept-cp-id, run accept and sync --accept-withdrawals have --approval.',
    examples: ['approval list', 'approval list --all --kind reveal --json'],
    parameters: (command) =>
      command
        .option('--all', 'also those that were used or have ended')
        .addOption(new Option('--kind <kind>', 'only this kind').choices(APPROVAL_KINDS)),
    order: '-asked_at',
    limit: { max: 10_000, byDefault: 100 },
    filter: ({ all = false, kind }) => ({ kinds: kind === undefined ? APPROVAL_KINDS : [kind], open: !all }),
    list: async (sql: Database, filter: ApprovalFilter, page: ListPage<'asked_at'>) => {
      if (filter.open) await refreshOpenRequests(sql, filter.kinds);
      return listApprovalPage(sql, filter, page);
    },
    key: 'approvals',
    toDocument,
    columns: ['approval_id', 'kind', 'subject', 'state', 'asked_by', 'approved_by', 'reason'],
    empty: 'Nothing waits for a second person.',
  });
};
