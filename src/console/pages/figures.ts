/** `/figures`: what reviewers decided, and how their rejections fared. */
import type { FastifyInstance } from 'fastify';
import { linkTo } from '#src/console/links.ts';
import { figuresList } from '#src/lists/figures.ts';
import { overturnedList } from '#src/lists/threads.ts';
import { sendPage } from '#src/site/answers.ts';
import { html } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;

/** Adds `/figures`. */
export const addFigures = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/figures', { config: { right: figuresList.right } }, async (request, reply) => {
    const sources = sourcesOf(options);
    const view = { path: '/figures', query: request.query, limit: PAGE };
    const figures = await showList(sources, figuresList, view);
    const { since } = figures.typed;
    const fared = await showList(sources, overturnedList, { ...view, query: { since } });
    return sendPage(reply, {
      title: 'Figures',
      at: '/figures',
      lead: 'Decisions by day and reviewer, the last 30 days by default. Days are in UTC.',
      body: html`${figures.filters}${figures.body({ linkTo, title: 'Decisions', label: 'Decisions' })}
${fared.body({ linkTo, title: 'How rejections fared', label: 'Rejections by reason' })}`,
    });
  });
};
