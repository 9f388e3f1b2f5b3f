/** `/requests`: every request. */
import type { FastifyInstance } from 'fastify';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { linkTo } from '#src/kyc-desk/pages/parts.ts';
import { kycRequestList } from '#src/lists/approvals.ts';
import { sendPage } from '#src/site/answers.ts';
import { html } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;

/** Adds the page. */
export const addRequests = (app: FastifyInstance, options: DeskOptions): void => {
  app.get('/requests', { config: { right: kycRequestList.right } }, async (request, reply) => {
    const view = { path: '/requests', query: request.query, limit: PAGE, fixed: { all: true } };
    const { filters, body } = await showList(sourcesOf(options), kycRequestList, view);
    const requests = body({ linkTo, title: 'Requests, latest first', label: 'Requests', stacked: true });
    return sendPage(reply, { title: 'Requests', at: '/requests', body: html`${filters}${requests}` });
  });
};
