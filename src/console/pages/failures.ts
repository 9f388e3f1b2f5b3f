/** `/failures`: what was not stored, grouped by what the application must fix. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { linkTo } from '#src/console/links.ts';
import { hasRight } from '#src/contract/roles.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { retryFailures } from '#src/operations/pull-games.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { action, html, link, number } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;

/** Adds `/failures`. */
export const addFailures = (app: FastifyInstance, options: ConsoleOptions): void => {
  const sources = sourcesOf(options);

  app.get('/failures', { config: { right: failureGroupList.right } }, async (request, reply) => {
    const view = { path: '/failures', query: request.query, limit: PAGE };
    const { filter, rows, filters, body } = await showList(sources, failureGroupList, view);
    const { application_id: application } = filter;
    const mayRetry = hasRight(operatorOf(request).roles, 'manage_applications');
    const actions =
      application !== undefined && mayRetry && rows.length > 0
        ? action('/failures', `Pull the failed games of ${application}`, {
            fields: { application },
            kind: 'primary',
          })
        : undefined;
    return sendPage(reply, {
      title: 'Failures',
      at: '/failures',
      body: html`${filters}${body({ linkTo, cells: { reasons: explainFailure }, stacked: 'lines' })}`,
      actions,
      lead: 'Games that were not stored, by what the application must fix. A row disappears when its game is stored.',
    });
  });

  app.post('/failures', { config: { right: 'manage_applications' } }, async (request, reply) => {
    const { application } = z.object({ application: z.string() }).parse(request.body);
    return redirectAfter(reply, link('/failures', { application }), async () => {
      const { games } = await operateFor(request, options, retryFailures, { application_id: application });
      return `Requested again: ${number(games.length)} ${games.length === 1 ? 'game' : 'games'}.`;
    });
  });
};
