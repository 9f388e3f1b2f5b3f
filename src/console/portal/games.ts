/** `/portal/games` and `/portal/game`: where a game is, and why. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { countGamesOf } from '#db/queries/console.ts';
import { listPortalGames, type PortalGame } from '#db/queries/portal.ts';
import {
  ago,
  badge,
  type Column,
  facts,
  html,
  link,
  number,
  pager,
  type SafeHtml,
  section,
  table,
} from '#src/console/html.ts';
import type { ConsoleOptions } from '#src/console/options.ts';
import { timelineCard } from '#src/console/pages/game-view.ts';
import { holderOf, sendPortal } from '#src/console/portal/session.ts';
import { optionalId, optionalWord } from '#src/console/query.ts';
import { identifier } from '#src/contract/text.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { forApplication, readTimeline } from '#src/review/timeline.ts';

const PAGE = 50;
const query = z.object({ status: optionalWord(AUDIT_STATUSES), before: optionalId });
/** An id is taken as it is sent: spaces may be a part of it. */
const gameQuery = z.object({ id: identifier.optional().catch(undefined) });

/** The page of a game. The id is a parameter: as a part of the path, "." and ".." would disappear. */
export const gameUrl = (application_game_id: string): string =>
  link('/portal/game', { id: application_game_id });

const rejection = ({ reason_label, text }: PortalGame): SafeHtml =>
  html`${reason_label ?? 'No reason given.'}${text === null ? null : html`<br><span dir="auto">${text}</span>`}`;

const columnsOf = (status: (typeof AUDIT_STATUSES)[number]): Column<PortalGame>[] => [
  {
    head: 'Game',
    cell: (game) =>
      html`<a href="${gameUrl(game.application_game_id)}"><span dir="auto">${game.game_name.trim() || game.application_game_id}</span></a><br><small class="mono">${game.application_game_id}</small>`,
  },
  ...(status === 'rejected' ? [{ head: 'Why', cell: rejection }] : []),
  { head: 'Revision', from: 900, numeric: true, cell: (game) => game.revision },
  status === 'pending'
    ? { head: 'Changed', from: 640, cell: (game) => ago(game.updated_at) }
    : { head: 'Decided', from: 640, cell: (game) => ago(game.audit_time) },
];

/** The form that finds a game by its id, stored or not. */
export const findForm = (id = ''): SafeHtml =>
  html`<form method="get" action="/portal/game" class="filters" role="search"><label class="field grow"><span>Your game_id</span><input type="search" name="id" value="${id}" required></label><button class="button">Where is it?</button></form>`;

/** Adds `/portal/games` and `/portal/game`. */
export const addPortalGames = (portal: FastifyInstance, { sql }: ConsoleOptions): void => {
  portal.get('/portal/games', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { status = 'pending', before } = query.parse(request.query);
    const [found, counts] = await Promise.all([
      listPortalGames(sql, application_id, { status, before, limit: PAGE + 1 }),
      countGamesOf(sql, application_id),
    ]);
    const games = found.slice(0, PAGE);
    const tabs = html`<nav class="tabs" aria-label="Status">${AUDIT_STATUSES.map(
      (each) =>
        html`<a href="${link('/portal/games', { status: each })}"${each === status ? html` aria-current="page"` : null}>${each} ${number(counts[each])}</a>`,
    )}</nav>`;
    const body = html`${findForm()}${tabs}${section(
      `Games that are ${status}`,
      table(games, columnsOf(status), { empty: `None of your games is ${status}.`, label: 'Games' }),
    )}
${pager([
  ['First', before === undefined ? null : link('/portal/games', { status })],
  ['Next', found.length > PAGE ? link('/portal/games', { status, before: games.at(-1)?.game_id }) : null],
])}`;
    return sendPortal(request, reply, {
      title: 'Games',
      at: '/portal/games',
      body,
      lead: 'Games that your list no longer names are not shown here: find them by their id.',
    });
  });

  portal.get('/portal/game', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { id } = gameQuery.parse(request.query);
    if (id === undefined) return reply.redirect('/portal/games', 303);
    const timeline = forApplication(await readTimeline(sql, application_id, id));
    const { game } = timeline;
    const gameSection =
      game === null
        ? null
        : section(
            'Game',
            facts([
              [
                'Status',
                html`${badge(game.audit_status)}${game.withdrawn_at === null ? null : html` ${badge('withdrawn')}`}`,
              ],
              ['Decided', game.audit_time === null ? null : ago(game.audit_time)],
              ['Revision', game.revision],
              ['Fetched', ago(game.fetched_at)],
              ['Platform game_id', html`<span class="mono">${game.game_id}</span>`],
              [
                'Package URL',
                game.game_package_url === ''
                  ? null
                  : html`<span class="mono">${game.game_package_url}</span>`,
              ],
            ]),
          );
    return sendPortal(request, reply, {
      title: game?.game_name.trim() || id,
      at: '/portal/games',
      parent: ['Games', '/portal/games'],
      lead: html`<span class="mono">${id}</span>`,
      body: html`${findForm(id)}${timelineCard(timeline)}${gameSection}`,
    });
  });
};
