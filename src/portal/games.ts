/** `/portal/games` and `/portal/game`: where a game is, and why. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { countGamesOf, countWithdrawnGames } from '#db/queries/game-counts.ts';
import type { WithdrawnGame } from '#db/queries/game-list.ts';
import { identifier } from '#src/contract/text.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { nameOr } from '#src/lib/printable.ts';
import { gameList, withdrawnGameList } from '#src/lists/games.ts';
import type { Sources } from '#src/lists/read.ts';
import { gameUrl, linkTo } from '#src/portal/links.ts';
import { holderOf, sendPortal } from '#src/portal/session.ts';
import { portalThread } from '#src/portal/thread.ts';
import { forApplication, readTimeline } from '#src/review/timeline.ts';
import {
  ago,
  clock,
  FILTERS,
  facts,
  gameName,
  html,
  link,
  mono,
  number,
  type SafeHtml,
  section,
  statusBadges,
} from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalWord } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { timelineCard } from '#src/site/timeline.ts';

const PAGE = 50;
/** Withdrawn games that the tab counts. */
const COUNTED_MAX = 1_000;
const TABS = [...AUDIT_STATUSES, 'withdrawn'] as const;
type Tab = (typeof TABS)[number];
const tabQuery = z.object({ status: optionalWord(TABS) });
/** An id is taken as it is sent: spaces may be a part of it. */
const gameQuery = z.object({ id: identifier.optional().catch(undefined) });

type Named = { application_game_id: string; game_name: string };

const nameCell = ({ application_game_id, game_name }: Named): SafeHtml =>
  html`<a href="${gameUrl(application_game_id)}"><span dir="auto">${gameName(game_name)}</span></a>
<br><small class="mono">${application_game_id}</small>`;

const columnsOf = (status: AuditStatus): string[] => [
  'game_name',
  ...(status === 'rejected' ? ['why'] : []),
  'revision',
  status === 'pending' ? 'changed' : 'decided',
];

const whyWithdrawn = ({ unlisted_at }: WithdrawnGame): SafeHtml | string =>
  unlisted_at === null
    ? 'Your list no longer names it.'
    : html`Your list no longer names it: first missed ${clock(unlisted_at)}, and again when it was withdrawn.`;

const COMES_BACK = html`<p class="body soft">A game comes back when your list names it again, with the status that it
had unless it changed.</p>`;

/** The games of one tab. */
const showTab = async (
  sources: Sources,
  application_id: string,
  status: Tab,
  query: unknown,
): Promise<SafeHtml> => {
  const view = { path: '/portal/games', query, limit: PAGE };
  const title = `Games that are ${status}`;
  const cells = { game_name: nameCell };
  const shared = { title, linkTo, label: 'Games', empty: `None of your games is ${status}.` };
  if (status === 'withdrawn') {
    const fixed = { application_id };
    const { rows, body } = await showList(sources, withdrawnGameList, { ...view, fixed, kept: { status } });
    const shown = body({
      ...shared,
      only: ['game_name', 'first missed', 'withdrawn', 'audit_status'],
      cells: { ...cells, 'first missed': whyWithdrawn },
    });
    return html`${shown}${rows.length === 0 ? null : COMES_BACK}`;
  }
  const fixed = { application_id, audit_status: status };
  const order = '-first_seen';
  const games = await showList(sources, gameList, { ...view, order, fixed, kept: { status } });
  return html`${games.filters}${games.body({ ...shared, only: columnsOf(status), cells })}`;
};

/** The form that finds a game by its id, stored or not. */
export const findForm = (id = ''): SafeHtml =>
  html`<form method="get" action="/portal/game" ${FILTERS} role="search" aria-label="Find a game">
<label class="field grow"><span>Your game_id</span><input type="search" name="id" value="${id}" required></label>
<button class="button">Where is it?</button></form>`;

const tabs = (chosen: Tab, countOf: (tab: Tab) => string): SafeHtml =>
  html`<nav class="tabs" aria-label="Status">${TABS.map(
    (each) => html`<a href="${link('/portal/games', { status: each })}"${each === chosen ? CURRENT : null}>
${each} <span class="badge">${countOf(each)}</span></a>`,
  )}</nav>`;

const CURRENT = html` aria-current="page"`;

/** Adds `/portal/games` and `/portal/game`. */
export const addPortalGames = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  portal.get('/portal/games', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { status = 'pending' } = tabQuery.parse(request.query);
    const [games, counts, withdrawn] = await Promise.all([
      showTab(sources, application_id, status, request.query),
      countGamesOf(sql, application_id),
      countWithdrawnGames(sql, application_id, COUNTED_MAX + 1),
    ]);
    const countOf = (tab: Tab): string => {
      if (tab !== 'withdrawn') return number(counts[tab]);
      return withdrawn > COUNTED_MAX ? `${number(COUNTED_MAX)}+` : number(withdrawn);
    };
    return sendPortal(reply, {
      title: 'Games',
      at: '/portal/games',
      body: html`${findForm()}${tabs(status, countOf)}${games}`,
      lead: 'What became of your games. A game that is in no tab was never stored: find it by its id.',
    });
  });

  portal.get('/portal/game', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { id } = gameQuery.parse(request.query);
    if (id === undefined) return reply.redirect('/portal/games', 303);
    const timeline = forApplication(await readTimeline(sql, application_id, id));
    const { game } = timeline;
    const thread = game === null ? null : await portalThread(sources, game);
    const gameSection =
      game === null
        ? null
        : section(
            'Game',
            facts([
              ['Status', statusBadges(game)],
              ['Decided', game.audit_time === null ? null : ago(game.audit_time)],
              ['Revision', game.revision],
              ['Fetched', ago(game.fetched_at)],
              ['Platform game_id', mono(game.game_id)],
              ['Package URL', game.game_package_url === '' ? null : mono(game.game_package_url)],
            ]),
          );
    return sendPortal(reply, {
      title: nameOr(game?.game_name.trim() ?? '', id),
      at: '/portal/games',
      parent: ['Games', '/portal/games'],
      lead: mono(id),
      body: html`${findForm(id)}${timelineCard(timeline)}${thread}${gameSection}`,
    });
  });
};
