import { type Command, Option } from '@commander-js/extra-typings';
import { type ApprovalRow, listApprovalPage } from '#db/queries/approvals.ts';
import { refreshOpenRequests } from '#src/approvals/requests.ts';
import { defineCommand } from '#src/cli/command.ts';
import { CURSOR, choosePage, printPage } from '#src/cli/list-options.ts';
import { limitTo } from '#src/cli/parsers.ts';
import { APPROVAL_KINDS } from '#src/contract/approvals.ts';

const LATEST = { sort: 'asked_at', descending: true } as const;

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

  defineCommand(approval, 'list', {
    summary: 'list what waits for a second person, or was approved',
    details:
      'Operators ask and approve where they are signed in: at the KYC desk, and on the page of a suspect run in the console. A name on the command line is a claim. With the id, the operator who asked uses an approval once: kyc show --reveal, kyc erase, kyc accept-cp-id, run accept and sync --accept-withdrawals have --approval.',
    examples: ['approval list', 'approval list --all --kind reveal --json'],
    paged: true,
    parameters: (command) =>
      command
        .option('--all', 'also those that were used or have ended')
        .addOption(new Option('--kind <kind>', 'only this kind').choices(APPROVAL_KINDS))
        .option(...limitTo({ max: 10_000, byDefault: 100 }))
        .option(...CURSOR),
    run: async ({ openDatabase, out }, { all = false, kind, ...options }) => {
      const page = choosePage(options, { byDefault: LATEST });
      const sql = await openDatabase();
      const kinds = kind === undefined ? APPROVAL_KINDS : [kind];
      if (!all) await refreshOpenRequests(sql, kinds);
      const listed = await listApprovalPage(sql, { kinds, open: !all }, page);
      printPage(out, 'approvals', page, listed, {
        documents: listed.rows.map(toDocument),
        columns: ['approval_id', 'kind', 'subject', 'state', 'asked_by', 'approved_by', 'reason'],
        empty: 'Nothing waits for a second person.',
      });
    },
  });
};
