/** The games of a lane as cards. */
import type { LaneGame } from '#db/queries/lanes.ts';
import { addressesOf, type PictureSet } from '#db/queries/pictures.ts';
import { iconPlace, NO_PICTURE, smallPicture } from '#src/console/pages/pictures.ts';
import { seenField } from '#src/console/pages/seen-pictures.ts';
import { namePlace } from '#src/console/pages/shared-names.ts';
import { languageOf } from '#src/lib/languages.ts';
import { nameOr } from '#src/lib/printable.ts';
import { formatUtc } from '#src/lib/utc.ts';
import { oddLetters } from '#src/rules/text-hints.ts';
import { ago, badge, gameName, html, link, type SafeHtml, toneOf } from '#src/site/html.ts';
import type { LaneFilters } from '#src/site/query.ts';

export type LaneView = {
  filters: LaneFilters;
  mayDecide: boolean;
  pictures: PictureSet;
  /** What changed since the decision, by game. */
  changes: ReadonlyMap<string, readonly string[]>;
  /** With the pictures of each game, and how its description begins. */
  isGallery: boolean;
  beginnings: ReadonlyMap<string, string>;
  /** The games that the reader has opened. */
  opened: ReadonlySet<string>;
  /** The games of the last batch that were not decided. */
  moved: ReadonlySet<string>;
  /** The games whose icon another application has too. */
  shared: ReadonlySet<string>;
};

/** A game of a card; `game_store_pic` only if its pictures are shown or fetched. */
export type Shown = LaneGame & { game_store_pic?: string[] };

// `autocomplete` is off, because a browser that goes back restores checks by their place, where another game is now.
const selection = ({ game_id, revision, game_name }: LaneGame): SafeHtml =>
  html`<input type="checkbox" autocomplete="off" name="game" value="${game_id}@${revision}"
 aria-label="Select ${nameOr(game_name)}">`;

/** The pictures of a game, small. Each opens in the viewer. */
const shots = ({ application_id, game_store_pic = [], game_name }: Shown, pictures: PictureSet): SafeHtml =>
  html`<div class="shots">${
    game_store_pic.length === 0
      ? NO_PICTURE
      : game_store_pic.map((url, n) =>
          smallPicture(
            pictures.get({ application_id, url }),
            `${nameOr(game_name)}, picture ${n + 1} of ${game_store_pic.length}`,
          ),
        )
  }</div>`;

/** The beginning of a description. */
const beginning = (text = ''): SafeHtml | null =>
  text === '' ? null : html`<p class="blurb" dir="auto" lang="${languageOf(text)}">${text}</p>`;

/** The field by which the form sends the pictures that the card of a game shows. */
const seenOf = (game: Shown, { pictures, isGallery }: LaneView): SafeHtml => {
  const { game_id, application_id, game_icon, game_store_pic = [] } = game;
  const addresses = addressesOf({
    application_id,
    game_icon: game_icon.slice(0, 1),
    game_store_pic: isGallery ? game_store_pic : [],
  });
  return seenField(game_id, addresses.map(pictures.get));
};

/** Marks what a reviewer should know of a game before opening it. */
const marksOf = ({ game_id, game_name, decided_status }: Shown, view: LaneView): SafeHtml[] => {
  const isOpened = view.opened.has(game_id);
  return [
    view.moved.has(game_id) && badge('not decided', 'bad'),
    view.shared.has(game_id) && badge('same icon elsewhere', 'warn'),
    ...oddLetters(game_name).map((each) => badge(each, 'warn')),
    decided_status !== null && badge(`was ${decided_status}`, toneOf(decided_status)),
    isOpened ? badge('opened', 'good') : view.isGallery && badge('not opened'),
  ].filter((mark) => mark !== false);
};

/** When a game is due. The heading of the lane shows the word "due", so a card has it for screen readers only. */
const dueMark = (due: Date): SafeHtml =>
  due.getTime() <= Date.now()
    ? html`<span class="badge bad" title="${formatUtc(due)}">overdue</span>`
    : html`<span class="meta"><span class="hidden">due </span>${ago(due)}</span>`;

/** The changed fields, as words, because a mark for each would take a line. */
const changeMark = (changed: readonly string[]): SafeHtml =>
  html`<span class="change info">changed: ${changed.join(', ')}</span>`;

/** A game of the list `review.list`. */
export const laneCard = (game: Shown, view: LaneView): SafeHtml => {
  const { filters, mayDecide, pictures, changes, isGallery } = view;
  const { game_id, game_name, application_name, due } = game;
  const changed = changes.get(game_id) ?? [];
  const marks = [...marksOf(game, view), ...(changed.length === 0 ? [] : [changeMark(changed)])];
  return html`<li class="game-card" data-item>${mayDecide ? html`${selection(game)}${seenOf(game, view)}` : html`<span></span>`}
${iconPlace(game, pictures)}<div>
<a class="name" href="${link(`/games/${game_id}`, filters)}">${gameName(game_name)}</a>
<div class="of">${dueMark(due)}<span class="meta" dir="auto">${application_name}</span>
${namePlace(game_id)}</div>
${marks.length === 0 ? null : html`<div class="marks">${marks.map((mark) => html`${mark} `)}</div>`}</div>
${isGallery ? html`${shots(game, pictures)}${beginning(view.beginnings.get(game_id))}` : null}</li>`;
};
