/**
 * `/review/names`: which games of a lane have a name that another application has too. Their cards request it once they are
 * shown, because to look for sixty names takes longer than the page. Each mark shortens the name of the application before
 * it, so that nothing moves.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listSharedNames } from '#db/queries/similar-names.ts';
import { END, requestedGames } from '#src/console/pages/late-parts.ts';
import { HTML } from '#src/site/answers.ts';
import { html, link, type SafeHtml } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

const idOf = (game_id: string): string => `name-${game_id}`;

/** The place of the mark on the card of a game. */
export const namePlace = (game_id: string): SafeHtml => html`<span id="${idOf(game_id)}"></span>`;

/** Makes the browser request the marks of a page's cards. */
export const awaitNames = (game_ids: readonly string[]): SafeHtml | null =>
  game_ids.length === 0
    ? null
    : html`<div hidden hx-get="${link('/review/names', { games: game_ids.join(' ') })}" hx-trigger="load"
 hx-swap="outerHTML"></div>`;

const mark = (game_id: string): SafeHtml =>
  html`<span class="badge warn" id="${idOf(game_id)}" title="similar name elsewhere"
 hx-swap-oob="true"><span aria-hidden="true">≈ name</span><span class="hidden">similar name elsewhere</span></span>`;

const query = z.object({ games: requestedGames });

/** Adds `/review/names`. */
export const addSharedNames = (app: FastifyInstance, { sql }: ConsoleOptions): void => {
  app.get('/review/names', { config: { right: 'view' } }, async (request, reply) => {
    const shared = await listSharedNames(sql, query.parse(request.query).games);
    return reply.type(HTML).send(String(html`${shared.map(mark)}${END}`));
  });
};
