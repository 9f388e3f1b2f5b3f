/** `/requests`: every request, and what the second person does. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { type ApprovalRow, listApprovals } from '#db/queries/approvals.ts';
import { approve, endRequest, refreshOpenRequests } from '#src/approvals/requests.ts';
import { operatorOf, redirectWith, sendPage } from '#src/console/answers.ts';
import { clock, html, section, table } from '#src/console/html.ts';
import { isId } from '#src/console/query.ts';
import { requestBadge } from '#src/console/requests.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { CatalogueError } from '#src/errors.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { applicationOf, developerPath, whatOf } from '#src/kyc-desk/pages/parts.ts';

const SHOWN = 200;
const params = z.object({ approval_id: z.string().refine(isId) });

/** Adds the page and its actions. */
export const addRequests = (app: FastifyInstance, { sql }: DeskOptions): void => {
  app.get('/requests', { config: { right: 'kyc' } }, async (request, reply) => {
    // Requests whose subject has changed end before they are listed.
    await refreshOpenRequests(sql, KYC_APPROVAL_KINDS);
    const rows = await listApprovals(sql, { kinds: KYC_APPROVAL_KINDS, limit: SHOWN });
    const body = section(
      'Requests, latest first',
      table(
        rows,
        [
          { head: 'Asked', cell: (row) => clock(row.asked_at) },
          {
            head: 'Developer',
            fit: 'words',
            cell: (row) => html`<a href="${developerPath(applicationOf(row))}">${applicationOf(row)}</a>`,
          },
          { head: 'Request', cell: whatOf },
          { head: 'State', cell: requestBadge },
          { head: 'By', fit: 'words', cell: (row) => row.asked_by },
          { head: 'Second person', fit: 'words', cell: (row) => row.approved_by },
          { head: 'Reason', cell: (row) => row.reason },
        ],
        { empty: 'No requests yet.', label: 'Requests', stacked: true },
      ),
    );
    return sendPage(request, reply, { title: 'Requests', at: '/requests', body });
  });

  /** Goes back to the developer with what was done, or why it was not. */
  const answer = async (
    reply: FastifyReply,
    work: () => Promise<{ row: ApprovalRow; text: string }>,
  ): Promise<FastifyReply> => {
    try {
      const { row, text } = await work();
      return redirectWith(reply, developerPath(applicationOf(row)), text);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      return redirectWith(reply, '/requests', error.message, 'bad');
    }
  };

  app.post('/requests/:approval_id/approve', { config: { right: 'kyc' } }, (request, reply) => {
    const { approval_id } = params.parse(request.params);
    return answer(reply, async () => {
      const row = await approve(sql, operatorOf(request).login, KYC_APPROVAL_KINDS, approval_id);
      return { row, text: `Approved. ${row.asked_by} has 15 minutes to do it, once.` };
    });
  });

  app.post('/requests/:approval_id/cancel', { config: { right: 'kyc' } }, (request, reply) => {
    const { approval_id } = params.parse(request.params);
    return answer(reply, async () => {
      const row = await endRequest(sql, operatorOf(request).login, KYC_APPROVAL_KINDS, approval_id);
      return { row, text: 'The request has ended.' };
    });
  });
};
