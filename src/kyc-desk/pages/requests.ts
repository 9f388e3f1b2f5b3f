/** `/requests`: every request, and what the second person does. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { applicationOf, developerPath, linkTo } from '#src/kyc-desk/pages/parts.ts';
import { kycRequestList } from '#src/lists/approvals.ts';
import { approve, endRequest } from '#src/operations/approvals.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { html } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;
const params = z.object({ approval_id: z.guid() });

/** Adds the page and its actions. */
export const addRequests = (app: FastifyInstance, options: DeskOptions): void => {
  const { sql } = options;
  app.get('/requests', { config: { right: kycRequestList.right } }, async (request, reply) => {
    const view = { path: '/requests', query: request.query, limit: PAGE, fixed: { all: true } };
    const { filters, body } = await showList(sourcesOf(options), kycRequestList, view);
    const requests = body({ linkTo, title: 'Requests, latest first', label: 'Requests', stacked: true });
    return sendPage(reply, { title: 'Requests', at: '/requests', body: html`${filters}${requests}` });
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
