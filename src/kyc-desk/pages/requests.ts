/** `/requests`: every request. */
import type { FastifyInstance } from 'fastify';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { requestColumns } from '#src/kyc-desk/pages/parts.ts';
import { describeRequest, kycRequestList } from '#src/lists/approvals.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import { html, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { requestCard } from '#src/site/requests.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;

const IN_CONSOLE = html`<p class="soft">Do it on the page of the operators in the console.</p>`;

const officerCard = (row: ApprovalRow, login: string): SafeHtml =>
  requestCard(row, { login, mayApprove: true, what: describeRequest(row), use: IN_CONSOLE });

/** Adds the page. */
export const addRequests = (app: FastifyInstance, options: DeskOptions): void => {
  app.get('/requests', { config: { right: kycRequestList.right } }, async (request, reply) => {
    const view = { path: '/requests', query: request.query, limit: PAGE, fixed: { all: true } };
    const { filters, body } = await showList(sourcesOf(options), kycRequestList, view);
    const { login } = operatorOf(request);
    const requests = body({
      ...requestColumns(login),
      title: 'Requests, latest first',
      label: 'Requests',
    });
    const cards = (await refreshOpenRequests(options.sql, ['officer'])).map((row) => officerCard(row, login));
    const officers = cards.length === 0 ? null : section('New KYC officers', html`${cards}`);
    return sendPage(reply, {
      title: 'Requests',
      at: '/requests',
      body: html`${officers}${filters}${requests}`,
    });
  });
};
