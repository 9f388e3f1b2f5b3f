/** `/review`: the two lanes, as a list and as a gallery. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { countAppeals } from '#db/queries/appeals.ts';
import { listOpenedGames } from '#db/queries/game-viewers.ts';
import { readBeginnings } from '#db/queries/lane-contents.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { listReasons, type ReasonRow } from '#db/queries/reasons.ts';
import { listSharedIcons } from '#db/queries/similar-icons.ts';
import { rejectionFields, sendRejection } from '#src/console/pages/decision-form.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { laneCard } from '#src/console/pages/lane-cards.ts';
import { PICTURE_VIEWER } from '#src/console/pages/pictures.ts';
import { SEEN_PICTURE_MAX_BYTES } from '#src/console/pages/seen-pictures.ts';
import { awaitNames } from '#src/console/pages/shared-names.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { URLS_MAX } from '#src/contract/text.ts';
import { LANES, type Lane } from '#src/contract/words.ts';
import { laneList } from '#src/lists/review.ts';
import { describeChanges } from '#src/review/lane-changes.ts';
import { type LaneSummary, summariseLanes } from '#src/review/lanes.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import { readCookie, setCookie } from '#src/site/cookies.ts';
import { action, ago, hiddenFields, html, link, NO_DEFAULT, number, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { cursorText, type LaneFilters, laneFilters, optionalWord } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { tabs } from '#src/site/tabs.ts';

/** Games on a page of a lane. */
export const LANE_PAGE = 60;
const GALLERY_PAGE = 24;
/** Most bytes that the form of a page sends about the pictures that it shows. */
export const SEEN_MAX_BYTES = LANE_PAGE * 64 + (LANE_PAGE + GALLERY_PAGE * URLS_MAX) * SEEN_PICTURE_MAX_BYTES;
/** All pictures of this many games at the head of the page are fetched; of the others only the icons. */
const OPENED_SOON = 4;

/** The cookie with the view that the reader has chosen last. */
const CHOSEN_VIEW = 'catalogue_view';
const YEAR_S = 365 * 86_400;

const lanePage = laneFilters.extend({
  view: optionalWord(['list', 'gallery']),
  cursor: cursorText.optional().catch(undefined),
  moved: z
    .string()
    .max(LANE_PAGE * 37)
    .catch('')
    .transform((ids) => ids.split(',')),
});

/** The lanes with their games. @param lane absent: the appeals are open @param appeals how many wait */
export const laneTabs = (
  lane: Lane | undefined,
  filters: LaneFilters,
  summary: LaneSummary,
  appeals: number,
): SafeHtml =>
  tabs('Lanes', [
    ...LANES.map((each) => ({
      url: link('/review', { ...filters, lane: each }),
      text: each === 'new' ? 'New' : 'Changed',
      count: number(summary[each].games),
      isOpen: each === lane,
    })),
    { url: '/review/appeals', text: 'Appeals', count: number(appeals), isOpen: lane === undefined },
  ]);

/** A button's words with the place for how many games are selected, such as " 2 games" (browser/console.ts). */
const withGames = (verb: string, end = ''): SafeHtml =>
  html`<span>${verb}<span data-games></span>${end}</span>`;

/** The buttons that decide on the selected games. */
const bulk = (games: number, reasons: readonly ReasonRow[]): SafeHtml =>
  html`<div class="bulk" role="group" aria-label="Decide on the selected games">
<label class="checks"><input type="checkbox" autocomplete="off" data-select-all>
<span>Select all<span class="from-900"> ${number(games)} on this page</span></span></label>
<output data-selected></output>
<button class="button primary" name="act" value="pass" data-key="p" aria-keyshortcuts="p"
 formnovalidate>${withGames('Pass')} <kbd aria-hidden="true">p</kbd></button>
<details id="rejection">
<summary class="button" data-key="r" data-opens="rejection" aria-keyshortcuts="r">
${withGames('Reject', '…')} <kbd aria-hidden="true">r</kbd></summary>
<div class="panel-over">${rejectionFields(reasons)}${sendRejection(withGames('Reject'))}</div></details></div>`;

const viewSwitch = (filters: LaneFilters, isGallery: boolean): SafeHtml =>
  html`<a class="button" href="${link('/review', { ...filters, view: isGallery ? 'list' : 'gallery' })}">
${isGallery ? 'List' : 'Gallery'}</a>`;

/** Adds `/review`. */
export const addReview = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/review', { config: { right: 'view' } }, async (request, reply) => {
    const { login, roles } = operatorOf(request);
    const mayDecide = hasRight(roles, 'decide');
    const { application, view: chosen, moved, cursor } = lanePage.parse(request.query);
    if (chosen !== undefined) setCookie(reply, CHOSEN_VIEW, chosen, { maxAge: YEAR_S });
    const isGallery = (chosen ?? readCookie(request, CHOSEN_VIEW)) === 'gallery';
    const kept: { view?: string } = isGallery ? { view: 'gallery' } : {};
    const [summary, appeals, list, reasons] = await Promise.all([
      summariseLanes(sql, application),
      countAppeals(sql),
      showList(sourcesOf(options), laneList, {
        path: '/review',
        query: request.query,
        limit: isGallery ? GALLERY_PAGE : LANE_PAGE,
        tabs: ['lane'],
        kept,
      }),
      listReasons(sql),
    ]);
    const { rows: games, filter, typed, count, pager } = list;
    const { lane = 'new' } = filter;
    const ids = games.map(({ game_id }) => game_id);
    // With a store of pictures, a game is not passed without them.
    const fetched = isGallery || options.keepsPictures ? ids : ids.slice(0, OPENED_SOON);
    const pictured = new Map((await listPicturedGames(sql, fetched)).map((game) => [game.game_id, game]));
    const shownGames = games.map((game) => ({ ...pictured.get(game.game_id), ...game }));
    const pictures = await wantPictures(options, shownGames);
    const filters = { ...typed, lane };
    const view = {
      filters,
      mayDecide,
      pictures,
      isGallery,
      beginnings: await readBeginnings(sql, isGallery ? ids : []),
      moved: new Set(moved),
      changes: lane === 'changed' ? await describeChanges(sql, games) : new Map<string, string[]>(),
      opened: await listOpenedGames(sql, ids, login),
      shared: await listSharedIcons(sql, ids),
    };
    const cards = html`<ul class="cards${isGallery ? ' with-shots' : null}">${shownGames.map((game) => laneCard(game, view))}</ul>
${awaitIcons(games, pictures)}${awaitNames(ids)}`;
    const shown = mayDecide
      ? html`<form method="post" action="/review" class="many">
${NO_DEFAULT}${hiddenFields({ ...filters, ...kept })}${cards}${bulk(games.length, reasons)}</form>`
      : cards;
    const sentence = filter.search === undefined ? laneList.empty : list.sentence;
    const elsewhere =
      typed.q === undefined ? null : html` <a href="${link('/games', { q: typed.q })}">Search all games</a>`;
    const empty = html`<div class="card"><div class="empty"><p>${sentence}${elsewhere}</p></div></div>`;
    const { due, games: total } = summary[lane];
    const isFirst = cursor === undefined && filter.search === undefined;
    const reach = html`<span class="soft">The first ${games.length} of ${number(total)}</span>`;
    const said = isFirst ? pager && reach : count;
    return sendPage(reply, {
      title: 'Review',
      at: '/review',
      body: html`<div class="toolbar">${laneTabs(lane, filters, summary, appeals.open)}${list.filters}</div>
${games.length === 0 ? empty : shown}${isGallery ? PICTURE_VIEWER : null}
${(said ?? pager) && html`<div class="pager">${said}${pager}</div>`}`,
      lead: due === null ? 'Nothing waits.' : html`First due ${ago(due)}`,
      actions: mayDecide
        ? html`${viewSwitch(filters, isGallery)}
${action('/undo', 'Undo', { fields: { ...filters, ...kept }, key: 'u', id: 'undo' })}
${games.length === 0 ? null : html`<a class="button primary" href="${link('/review/next', filters)}">Start</a>`}`
        : undefined,
    });
  });
};
