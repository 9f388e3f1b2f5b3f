/** `/failures`: what was not stored, grouped by what the application must fix. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { operatorActor } from '#db/queries/audit.ts';
import { retryFailedGames } from '#src/actions/pull-games.ts';
import { linkTo } from '#src/console/links.ts';
import { hasRight } from '#src/contract/roles.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { operatorOf, redirectWith, sendPage } from '#src/site/answers.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { action, html, link, number } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;

/** Adds `/failures`. */
export const addFailures = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, producer } = options;
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
      body: html`${filters}${body({ linkTo, title: 'Failures', cells: { reasons: explainFailure }, stacked: true })}`,
      actions,
      lead: 'Games that were not stored, by what the application must fix. A row disappears when its game is stored.',
    });
  });

  app.post('/failures', { config: { right: 'manage_applications' } }, async (request, reply) => {
    const { application } = z.object({ application: z.string().min(1).max(63) }).parse(request.body);
    const { games } = await retryFailedGames(
      { sql, producer },
      operatorActor(operatorOf(request).login),
      application,
    );
    return redirectWith(
      reply,
      link('/failures', { application }),
      `Requested again: ${number(games)} ${games === 1 ? 'game' : 'games'}.`,
    );
  });
};
