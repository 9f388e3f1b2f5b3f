/** `/requests`: every request, and what the second person does. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type ApprovalRow, listApprovals } from '#db/queries/approvals.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { applicationOf, developerLink, developerPath, whatOf } from '#src/kyc-desk/pages/parts.ts';
import { approve, endRequest, refreshOpenRequests } from '#src/operations/approvals.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { clock, tableSection } from '#src/site/html.ts';
import { requestBadge } from '#src/site/requests.ts';

const SHOWN = 200;
const params = z.object({ approval_id: z.guid() });

/** Adds the page and its actions. */
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

  /** Goes back to the developer with what was done, or to the requests with why it was not. */
  const addDeed = (
    deed: 'approve' | 'cancel',
    work: typeof approve,
    describe: (row: ApprovalRow) => string,
  ): void => {
    app.post(`/requests/:approval_id/${deed}`, { config: { right: 'kyc' } }, (request, reply) => {
      const { approval_id } = params.parse(request.params);
      return redirectOnRefusal(reply, '/requests', async () => {
        const row = await work(sql, operatorOf(request).login, KYC_APPROVAL_KINDS, approval_id);
        return redirectWith(reply, developerPath(applicationOf(row)), describe(row));
      });
    });
  };
  addDeed('approve', approve, (row) => `Approved. ${row.asked_by} has 15 minutes to do it, once.`);
  addDeed('cancel', endRequest, () => 'The request has ended.');
};
