/** `/requests`: every request. */
import type { FastifyInstance } from 'fastify';
import { listApprovals } from '#db/queries/approvals.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { applicationOf, developerLink, whatOf } from '#src/kyc-desk/pages/parts.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { sendPage } from '#src/site/answers.ts';
import { clock, tableSection } from '#src/site/html.ts';
import { requestBadge } from '#src/site/requests.ts';

const SHOWN = 200;

/** Adds the page. */
export const addRequests = (app: FastifyInstance, { sql }: DeskOptions): void => {
  app.get('/requests', { config: { right: 'kyc' } }, async (_request, reply) => {
    // Requests whose subject has changed end before they are listed.
    await refreshOpenRequests(sql, KYC_APPROVAL_KINDS);
    const rows = await listApprovals(sql, { kinds: KYC_APPROVAL_KINDS, limit: SHOWN });
    const body = tableSection(
      'Requests, latest first',
      rows,
      [
        { head: 'Asked', cell: (row) => clock(row.asked_at) },
        { head: 'Developer', fit: 'words', cell: (row) => developerLink(applicationOf(row)) },
        { head: 'Request', cell: whatOf },
        { head: 'State', cell: requestBadge },
        { head: 'By', fit: 'words', cell: (row) => row.asked_by },
        { head: 'Second person', fit: 'words', cell: (row) => row.approved_by },
        { head: 'Reason', cell: (row) => row.reason },
      ],
      { empty: 'No requests yet.', label: 'Requests', stacked: true },
    );
    return sendPage(reply, { title: 'Requests', at: '/requests', body });
  });
};
