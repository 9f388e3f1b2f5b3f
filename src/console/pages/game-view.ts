/** The page of one game. */

import type { GameRow } from '#db/queries/games.ts';
import type { ReasonRow } from '#db/queries/reasons.ts';
import { rejectionFields } from '#src/console/pages/decision-form.ts';
import {
  DECISION_FORMS,
  type GamePictures,
  passButton,
  pictureList,
  similarIcons,
} from '#src/console/pages/game-pictures.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace, preloadPictures } from '#src/console/pages/pictures.ts';
import { nameOr } from '#src/lib/printable.ts';
import type { GameDiff } from '#src/review/compare-revisions.ts';
import type { Timeline } from '#src/review/timeline.ts';
import type { FieldDiff, TextPart } from '#src/rules/diff.ts';
import { CONTENT } from '#src/rules/mapping.ts';
import {
  action,
  applicationLink,
  badge,
  clock,
  FILTERS,
  facts,
  formatDuration,
  hiddenFields,
  html,
  IN_PLACE,
  input,
  link,
  mono,
  type SafeHtml,
  section,
  select,
  statusBadges,
} from '#src/site/html.ts';
import type { Page } from '#src/site/layout.ts';
import type { LaneFilters } from '#src/site/query.ts';
import { timelineCard } from '#src/site/timeline.ts';

export type GameView = {
  game: GameRow;
  diff: GameDiff;
  timeline: Timeline;
  revisions: readonly number[];
  reasons: readonly ReasonRow[];
  viewers: SafeHtml | null;
  mayDecide: boolean;
  /** Of the lane that the game was opened from. */
  filters: LaneFilters;
  cursor: string | undefined;
  nextUrl: string | undefined;
  /** Where the search for the next game goes on, if none of the names that were compared matches. */
  furtherUrl: string | undefined;
  backUrl: string | undefined;
  pictures: GamePictures;
  /** The game that opens after a decision. */
  next: Pick<GameRow, 'application_id' | 'game_icon' | 'game_store_pic'> | undefined;
};

/** A part of a text, marked if it was removed or added. @param content the part, as it is shown */
const markPart = ({ type }: TextPart, isCompared: boolean, content: SafeHtml): SafeHtml => {
  if (!isCompared || type === 'same') return content;
  return type === 'removed' ? html`<del>${content}</del>` : html`<ins>${content}</ins>`;
};

const fieldBody = (field: FieldDiff, isCompared: boolean, { diff, pictures }: GameView): SafeHtml => {
  if (field.kind === 'list') {
    if (field.items.length === 0) return html`<div class="body"><p class="soft">None.</p></div>`;
    return html`${pictureList(diff, field, pictures)}${field.field === 'game_icon' ? similarIcons(pictures) : null}`;
  }
  if (field.parts.every((part) => part.text === ''))
    return html`<div class="body"><p class="soft">None.</p></div>`;
  const [only] = field.parts;
  const isLink = field.field === 'game_store_video' && field.parts.length === 1 && only !== undefined;
  const body = isLink
    ? markPart(only, isCompared, outwardLink(only.text))
    : html`<div class="prose" dir="auto">${field.parts.map((part) =>
        markPart(part, isCompared, html`${part.text}`),
      )}</div>`;
  return html`<section class="body clip" tabindex="0" aria-label="${CONTENT[field.field].title}">${body}</section>`;
};

/** A link to an address of an application. */
const outwardLink = (url: string): SafeHtml =>
  html`<a class="mono" href="${url}" rel="noreferrer noopener nofollow" target="_blank">${url}</a>`;

/** Did its words, its addresses, or bytes behind an address change? */
const isChanged = (field: FieldDiff, isCompared: boolean, { diff, pictures }: GameView): boolean =>
  (isCompared && field.changed) ||
  (field.kind === 'list' &&
    diff.to === diff.game.revision &&
    field.items.some(({ type, value }) => type !== 'removed' && pictures.former.has(value)));

const fieldCard = (field: FieldDiff, isCompared: boolean, view: GameView): SafeHtml => {
  const mark = isChanged(field, isCompared, view)
    ? badge('changed')
    : html`<span class="soft">unchanged</span>`;
  const aside = isCompared || view.pictures.former.size > 0 ? mark : undefined;
  return section(CONTENT[field.field].title, fieldBody(field, isCompared, view), { aside });
};

/** The form of a decision, on the revision that the page shows. */
const decisionCard = (view: GameView): SafeHtml => {
  const { game, diff, reasons, filters, cursor, viewers } = view;
  const url = `/games/${game.game_id}`;
  if (diff.to !== game.revision)
    return section(
      'Decision',
      html`<div class="decision">
<p>This is revision ${diff.to}. A decision is made on revision ${game.revision}, the current one.</p>
<a class="button primary" href="${link(url, filters)}">Show revision ${game.revision}</a></div>`,
      { id: 'decision' },
    );
  const seen = { revision: String(game.revision), seen_status: game.audit_status };
  const hidden = hiddenFields({ ...seen, ...filters, cursor });
  const pass = html`<form method="post" action="${url}" id="${DECISION_FORMS.pass}"${IN_PLACE}>${hidden}
${passButton(view.pictures)}</form>`;
  const reject = html`<form method="post" action="${url}" id="${DECISION_FORMS.reject}" class="rows"${IN_PLACE}>
${hidden}${rejectionFields(reasons)}<button class="button danger" name="act" value="reject">Reject</button></form>`;
  return section(
    'Decision',
    html`<div class="decision">${viewers}${pass}
<details id="rejection"><summary class="button" data-key="r" data-opens="rejection">Reject… <kbd>r</kbd></summary>
${reject}</details></div>`,
    { aside: html`<span class="soft">on revision ${game.revision}</span>`, id: 'decision' },
  );
};

const compareForm = ({ game, diff, revisions, filters }: GameView): SafeHtml | null => {
  if (revisions.length < 2) return null;
  const options = revisions.map((each) => [String(each), `revision ${each}`] as const);
  return html`<form method="get" action="/games/${game.game_id}" ${FILTERS}>${hiddenFields(filters)}
${select('from', 'Compare', options, String(diff.from ?? ''))}${select('to', 'with', options, String(diff.to))}
<button class="button">Compare</button></form>`;
};

const comparedNote = ({ from, to }: GameDiff): SafeHtml =>
  html`<p class="soft compared">What is different in revision ${to} from revision ${from}.
<del>Removed</del> and <ins>added</ins> words are marked.</p>`;

/** Says that bytes behind addresses differ from those of the last decision. */
const formerNote = ({ former: { size } }: GamePictures): SafeHtml | null =>
  size === 0
    ? null
    : html`<p class="notice warn">${size === 1 ? 'A picture has' : `${size} pictures have`}
other bytes behind the same address than the last decision saw: both are shown.</p>`;

const packageSection = ({ game, mayDecide }: GameView): SafeHtml => {
  const { game_id, game_package_url: value } = game;
  const form = html`<form method="post" action="/games/${game_id}/package" class="form">
${input('Address', { name: 'url', type: 'url', maxlength: 2048, value })}
<button class="button">Set package URL</button></form>`;
  return section('Package URL', mayDecide ? form : html`<div class="body mono">${value || '–'}</div>`);
};

const describeWait = ({ waiting }: GameView['timeline']): string | null => {
  if (waiting === null) return null;
  const { place, games, lane, median_wait_ms } = waiting;
  const median = median_wait_ms === null ? '' : `, median wait ${formatDuration(median_wait_ms)}`;
  return `number ${place} of ${games} in the ${lane} lane${median}`;
};

const gameFacts = ({ game, timeline }: GameView): SafeHtml =>
  section(
    'Game',
    facts([
      ['Status', html`<span>${statusBadges(game)}</span>`],
      ['Waits', describeWait(timeline)],
      ['Application', applicationLink(game.application_id)],
      ["Application's game_id", mono(game.application_game_id)],
      ['Our id', mono(game.game_id)],
      ['Revision', game.revision],
      ['Fetched', clock(game.fetched_at)],
    ]),
  );

/** A link to another game, or to where the lane goes on. */
const stepLink = (url: string | undefined, label: string, key: string, inPlace = true): SafeHtml | null =>
  url === undefined
    ? null
    : html`<a class="button" href="${url}" data-key="${key}"${inPlace ? IN_PLACE : null}>
${label} <kbd>${key}</kbd></a>`;

const steps = ({ mayDecide, filters, nextUrl, furtherUrl, backUrl }: GameView): SafeHtml =>
  html`${stepLink(backUrl, 'Previous', 'k')}${stepLink(nextUrl, 'Next', 'j')}
${stepLink(furtherUrl, 'Search further', 'j', false)}
${mayDecide ? action('/undo', 'Undo', { fields: filters, key: 'u', inPlace: true }) : null}`;

/** The page of one game. */
export const gamePage = (view: GameView): Page => {
  const { game, diff, timeline, mayDecide, filters, next, pictures } = view;
  const isCompared = diff.from !== null;
  const body = html`<div class="split"><div>
${compareForm(view)}${isCompared ? comparedNote(diff) : null}${formerNote(pictures)}
${diff.fields.map((field) => fieldCard(field, isCompared && diff.from !== diff.to, view))}
${timelineCard(timeline)}
</div><div class="stick">
${mayDecide && game.withdrawn_at === null ? decisionCard(view) : null}${gameFacts(view)}${packageSection(view)}
</div></div>${next === undefined ? null : preloadPictures(next, pictures.pictures)}
${awaitIcons([game], pictures.pictures, 'large')}`;
  return {
    title: nameOr(game.game_name.trim(), game.application_game_id),
    focusHeading: true,
    at: filters.lane === undefined ? '/games' : '/review',
    parent: filters.lane === undefined ? ['Games', '/games'] : ['Review', link('/review', filters)],
    mark: iconPlace(game, view.pictures.pictures, 'large'),
    lead: html`<span>${statusBadges(game)}</span>
<a href="/applications/${game.application_id}">${game.application_id}</a>`,
    actions: steps(view),
    body,
  };
};
