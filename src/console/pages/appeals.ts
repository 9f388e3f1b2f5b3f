/** `/review/appeals`: the lane of appeals. A reviewer is led to those against rejections of others. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { type AppealRow, countAppeals, listAppealedGames } from '#db/queries/appeals.ts';
import { claimFirstGame } from '#db/queries/game-leases.ts';
import { linkTo } from '#src/console/links.ts';
import { REJECTIONS } from '#src/console/pages/figures.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { laneTabs } from '#src/console/pages/review.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { appealList, overturnedList } from '#src/lists/threads.ts';
import { summariseLanes } from '#src/review/lanes.ts';
import { operatorOf, redirectWith, sendPage } from '#src/site/answers.ts';
import { gameName, html, NONE } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalId } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 50;
/** Appeals that are looked at together: more than a team has open. */
const LED_AT_ONCE = 50;

/** Did this reviewer reject the game? Then another one decides the appeal. */
export const isOwnRejection = ({ rejected_by }: Pick<AppealRow, 'rejected_by'>, login: string): boolean =>
  rejected_by.toLowerCase() === login.toLowerCase();

/**
 * Leases the next appealed game that the reviewer may decide and no other reviewer has.
 * @param after the game whose appeal the reviewer has seen; absent: from the longest waiting one
 * @returns its address; undefined if there is none
 */
export const leadToAppeal = async (
  sql: Database,
  login: string,
  after?: string,
): Promise<string | undefined> => {
  for (const from of after === undefined ? [undefined] : [after, undefined]) {
    for (let last = from; ; ) {
      const ids = await listAppealedGames(sql, { reviewer: login, after: last }, LED_AT_ONCE);
      const others = ids.filter((id) => id !== after);
      const game_id = await claimFirstGame(sql, others, login, after ?? null);
      if (game_id !== undefined) return `/games/${game_id}`;
      if (ids.length < LED_AT_ONCE) break;
      last = ids.at(-1);
    }
  }
  return undefined;
};

/** Adds `/review/appeals`. */
export const addAppeals = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/review/appeals', { config: { right: 'view' } }, async (request, reply) => {
    const sources = sourcesOf(options);
    const view = { path: '/review/appeals', query: request.query, limit: PAGE };
    const [summary, { open }, appeals, fared] = await Promise.all([
      summariseLanes(sql),
      countAppeals(sql),
      showList(sources, appealList, view),
      showList(sources, overturnedList, { path: REJECTIONS, query: {}, limit: PAGE }),
    ]);
    const { login, roles } = operatorOf(request);
    const pictures = await wantPictures(options, appeals.rows);
    const waiting = appeals.body({
      linkTo,
      title: 'Waiting',
      label: 'Appeals',
      stacked: true,
      cells: {
        game_name: (row) => html`<span class="titled">${iconPlace(row, pictures, 'tiny')}
<a href="/games/${row.game_id}">${gameName(row.game_name)}</a>
<small dir="auto">${row.application_name}</small></span>`,
        reason: (row) => html`<span dir="auto">${row.reason_label ?? NONE}</span><br>
<small>by ${isOwnRejection(row, login) ? 'you: another reviewer decides' : row.rejected_by}</small>`,
      },
    });
    const mayDecide = hasRight(roles, 'decide');
    return sendPage(reply, {
      title: 'Review',
      at: '/review',
      lead: 'The reviewer who rejected a game does not decide its appeal.',
      actions:
        mayDecide && appeals.rows.length > 0
          ? html`<a class="button primary" href="/review/appeals/next">Start</a>`
          : undefined,
      body: html`<div class="toolbar">${laneTabs(undefined, {}, summary, open)}${appeals.filters}</div>${waiting}
${awaitIcons(appeals.rows, pictures, 'tiny')}
${fared.body({ linkTo, title: 'How rejections fared', label: 'Rejections' })}`,
    });
  });

  app.get('/review/appeals/next', { config: { right: 'decide' } }, async (request, reply) => {
    const { after } = z.object({ after: optionalId }).parse(request.query);
    const next = await leadToAppeal(sql, operatorOf(request).login, after);
    if (next !== undefined) return reply.redirect(next, 303);
    const why = 'No other appeal waits for you: the rest are yours, or others decide them now.';
    return redirectWith(reply, '/review/appeals', why, 'info');
  });
};
