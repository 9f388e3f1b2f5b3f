/** `/reveals`: who revealed what, when and why, at the desk and on the command line. */
import type { FastifyInstance } from 'fastify';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { linkTo } from '#src/kyc-desk/pages/parts.ts';
import { revealList } from '#src/lists/audit.ts';
import { sendPage } from '#src/site/answers.ts';
import { html } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;

/** Adds the page. */
export const addReveals = (app: FastifyInstance, options: DeskOptions): void => {
  app.get('/reveals', { config: { right: revealList.right } }, async (request, reply) => {
    const view = { path: '/reveals', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), revealList, view);
    return sendPage(reply, {
      title: 'Reveals',
      at: '/reveals',
      body: html`${filters}${body({ linkTo, title: 'Reveals, latest first', label: 'Reveals', stacked: true })}`,
      lead: 'Every record that was shown in clear. An entry is written before the record is opened.',
    });
  });
};
