/** `/games`: search by name, by `game_id` (the platform's or the application's), by application and by status. */
import type { FastifyInstance } from 'fastify';
import type { Database } from '#db/client.ts';
import type { GameItem } from '#db/queries/game-list.ts';
import { linkTo } from '#src/console/links.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { NotFoundError } from '#src/errors.ts';
import { gameList } from '#src/lists/games.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { sendPage } from '#src/site/answers.ts';
import { applicationLink, gameName, html, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { timelineCard } from '#src/site/timeline.ts';

const PAGE = 50;

/** The timeline of a game that the list does not find, for example because the game is withdrawn; null if it is empty. */
const findTimeline = async (
  sql: Database,
  application_id: string,
  application_game_id: string,
): Promise<SafeHtml | null> => {
  try {
    const timeline = await readTimeline(sql, application_id, application_game_id);
    return timeline.entries.length === 0 ? null : timelineCard(timeline);
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
};

const HINT = html`To find a withdrawn game, or why an id has no game, search for the id in its application.`;

/** The name alone, so that a row has one line; the link has the id. */
const applicationCell = ({ application_id, application_name }: GameItem): SafeHtml =>
  applicationLink(
    application_id,
    html`<span dir="auto" title="${application_name}">${gameName(application_name)}</span>`,
  );

/** Adds `/games`. */
export const addGames = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/games', { config: { right: gameList.right } }, async (request, reply) => {
    const { rows, filter, pager, filters, body, sentence } = await showList(sourcesOf(options), gameList, {
      path: '/games',
      query: request.query,
      limit: PAGE,
      order: '-first_seen',
    });
    const pictures = await wantPictures(options, rows);
    const { search, application_id } = filter;
    const timeline =
      rows.length > 0 || pager !== null || search === undefined || application_id === undefined
        ? null
        : ((await findTimeline(sql, application_id, search)) ??
          (await findTimeline(sql, application_id, search.trim())));
    const named = (row: GameItem): SafeHtml =>
      html`<span class="titled">${iconPlace(row, pictures, 'tiny')}
<a href="/games/${row.game_id}">${gameName(row.game_name)}</a>
<small class="to-900" dir="auto">${row.application_name}</small></span>`;
    const list = body({
      linkTo,
      title: search === undefined ? 'Games, newest first' : 'Games, best match first',
      label: 'Games',
      cells: { game_name: named, application_name: applicationCell },
      ...(sentence === gameList.noMatch && { hint: HINT }),
    });
    return sendPage(reply, {
      title: 'Games',
      at: '/games',
      body: html`${filters}${timeline ?? list}${awaitIcons(rows, pictures, 'tiny')}`,
    });
  });
};
