/** `/audit`: who did what, to what, when and why. */
import type { FastifyInstance } from 'fastify';
import { linkTo } from '#src/console/links.ts';
import { auditList } from '#src/lists/audit.ts';
import { sendPage } from '#src/site/answers.ts';
import { html } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;

/** Adds `/audit`. */
export const addAudit = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/audit', { config: { right: auditList.right } }, async (request, reply) => {
    const view = { path: '/audit', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), auditList, view);
    return sendPage(reply, {
      title: 'Audit log',
      at: '/audit',
      body: html`${filters}${body({ linkTo, label: 'Audit log', stacked: true })}`,
      lead: html`Nothing here can be changed or removed: <code>npx catalogue audit verify</code> proves it.`,
    });
  });
};
