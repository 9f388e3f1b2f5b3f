/** The icons and pictures on a game's page: what is shown, what the decision saw, and what is still being fetched. */

import type { GameRow } from '#db/queries/games.ts';
import { listPins } from '#db/queries/picture-pins.ts';
import {
  addressesOf,
  type ContentView,
  findContents,
  type PictureSet,
  type PictureView,
} from '#db/queries/pictures.ts';
import { listSimilarIcons, type SimilarGame } from '#db/queries/similar-icons.ts';
import { changedPicture, isWaiting, picturePlace } from '#src/console/pages/pictures.ts';
import { formatSeenPictures } from '#src/console/pages/seen-pictures.ts';
import { delayNotice, type PictureDelay, readPictureDelay } from '#src/console/picture-delay.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { type GameDiff, isCompared } from '#src/review/compare-revisions.ts';
import type { FieldDiff, ListItem } from '#src/rules/diff.ts';
import { isFetching } from '#src/rules/pictures.ts';
import { html, link, type SafeHtml } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

export type ListDiff = Extract<FieldDiff, { kind: 'list' }>;

/** Games named in the hint. */
const SIMILAR_MAX = 4;

export type GamePictures = {
  /** Games whose icon looks the same. */
  similar: readonly SimilarGame[];
  hasMoreSimilar: boolean;
  /** The pictures of this game, in both revisions, and the icons of the similar ones. */
  pictures: PictureSet;
  /** Bytes that the last decision named and that are others now, by address; undefined for none. */
  former: ReadonlyMap<string, ContentView | undefined>;
  /** Why pictures of this game are not fetched; null if they are all there, or being fetched. */
  delay: PictureDelay | null;
  /** Does the page request this picture again? */
  isAwaited: (picture: PictureView | undefined) => boolean;
  pass: PassState;
};

/** `waits`: the game cannot be passed before its pictures are there. `lacking`: pictures that readers will not get. */
type PassState = { waits: boolean; lacking: number };

/** With a store of pictures, readers get the bytes that it has. */
const readPassState = (current: readonly (PictureView | undefined)[], keepsPictures: boolean): PassState => ({
  waits: keepsPictures && current.some(isFetching),
  lacking: keepsPictures
    ? current.filter((picture) => !isFetching(picture) && !picture?.is_stored).length
    : 0,
});

const listsOf = ({ fields }: GameDiff): ListDiff[] => fields.filter((field) => field.kind === 'list');

/** Reads the pictures that a game's page shows, and adds a job for those that are missing. */
export const loadGamePictures = async (
  options: ConsoleOptions,
  game: GameRow,
  diff: GameDiff,
): Promise<GamePictures> => {
  const { sql } = options;
  const { application_id } = game;
  const earlier = listsOf(diff).flatMap(({ items }) =>
    items.map(({ value }) => ({ application_id, url: value })),
  );
  const [similar, pins] = await Promise.all([
    listSimilarIcons(sql, game.game_id, SIMILAR_MAX + 1),
    listPins(sql, game.game_id),
  ]);
  const icons = similar.flatMap(({ application_id: owner, game_icon: [url] }) =>
    url === undefined ? [] : [{ application_id: owner, url }],
  );
  const pictures = await wantPictures(options, [game], [...earlier, ...icons]);
  const current = addressesOf(game).map((address) => [address.url, pictures.get(address)] as const);
  const changed = current.flatMap(([url, picture]) => {
    const pinned = picture && pins.get(picture.picture_id);
    return pinned === undefined || picture?.sha256 == null || picture.sha256 === pinned
      ? []
      : [[url, pinned] as const];
  });
  const isAwaited = options.keepsPictures ? isFetching : isWaiting;
  const isIncomplete = current.some(([, picture]) => isAwaited(picture));
  const [contents, delay] = await Promise.all([
    findContents(
      sql,
      changed.map(([, pinned]) => pinned),
    ),
    isIncomplete ? readPictureDelay(options.producer) : null,
  ]);
  return {
    delay,
    isAwaited,
    pass: readPassState(
      current.map(([, picture]) => picture),
      options.keepsPictures,
    ),
    pictures,
    similar: similar.slice(0, SIMILAR_MAX),
    hasMoreSimilar: similar.length > SIMILAR_MAX,
    former: new Map(changed.map(([url, pinned]) => [url, contents.get(pinned)])),
  };
};

/** The ids of the forms that decide on a game. */
export const DECISION_FORMS = { pass: 'pass', reject: 'reject' } as const;

/**
 * The button that passes a game. A game that is decided has no key for it.
 * @param isLate takes the place of the one on a page that was sent before
 */
export const passButton = (
  { audit_status }: Pick<GameRow, 'audit_status'>,
  { pass: { waits, lacking } }: GamePictures,
  isLate = false,
): SafeHtml | null => {
  if (audit_status === 'passed') return null;
  const lost = lacking === 1 ? 'a picture that was' : `${lacking} pictures that were`;
  const without = lacking === 0 ? '' : `Readers get the game without ${lost} not stored.`;
  const note = waits ? 'The game can be passed when its pictures are fetched and stored.' : without;
  const described = note === '' ? null : html` aria-describedby="pass-note"`;
  const state = html`${described}${waits ? html` disabled` : null}`;
  const button =
    audit_status === 'pending'
      ? html`<button class="button primary" name="act" value="pass" data-key="p" aria-keyshortcuts="p"${state}>
Pass <kbd aria-hidden="true">p</kbd></button>`
      : html`<button class="button" name="act" value="pass"${state}>Change to passed</button>`;
  return html`<div id="pass-button"${isLate ? html` hx-swap-oob="true"` : null}>${button}
${note === '' ? null : html`<p class="soft" id="pass-note">${note}</p>`}</div>`;
};

/** Fields by which a decision sends the pictures that a list shows. A list that is fetched again replaces its fields. */
const seenPictures = (shown: readonly (PictureView | undefined)[]): SafeHtml[] =>
  Object.values(DECISION_FORMS).map(
    (form) =>
      html`<input type="hidden" form="${form}" name="seen_pictures" value="${formatSeenPictures(shown)}">`,
  );

const ALTS: Partial<Record<ListDiff['field'], string>> = { game_icon: 'Icon', game_store_pic: 'Picture' };
/** The digits of the keyboard open the first nine pictures. */
const DIGITS = 9;
/** A gallery with more pictures scrolls (pictures.css). */
const UNSCROLLED_MAX = 21;
/** Every 0.8 s for 20 s, then every 15 s for ten minutes, a page requests pictures that are being fetched. */
const POLLS_MAX = 65;
const QUICK_POLLS = 25;

/** Are pictures of this list being fetched? */
const waitsFor = (
  { application_id }: GameRow,
  { items }: ListDiff,
  { pictures, isAwaited }: GamePictures,
): boolean =>
  items.some(
    ({ value, type }) => type !== 'removed' && isAwaited(pictures.get({ application_id, url: value })),
  );

/**
 * The pictures of one field. While some are being fetched, the browser requests the list again.
 * @param isLate takes the place of the one on a page that was sent before
 */
export const pictureList = (
  game: GameRow,
  diff: GameDiff,
  list: ListDiff,
  gamePictures: GamePictures,
  { polls = 0, isLate = false }: { polls?: number; isLate?: boolean } = {},
): SafeHtml => {
  const { from, to } = diff;
  const { field, items } = list;
  const { pictures, former, delay } = gamePictures;
  const isCurrent = to === game.revision;
  const isOver = polls >= POLLS_MAX;
  const find = (url: string) => pictures.get({ application_id: game.application_id, url });
  const place = ({ value, type }: ListItem, index: number): SafeHtml => {
    const picture = find(value);
    const alt = `${ALTS[field]} ${index + 1} of ${items.length}`;
    const shownWidth = field === 'game_icon' ? 256 : 512;
    if (isCurrent && type !== 'removed' && picture !== undefined && former.has(value))
      return changedPicture(value, former.get(value), picture, { alt, shownWidth });
    return picturePlace(value, picture, {
      alt,
      digit: field === 'game_store_pic' && index < DIGITS ? index + 1 : undefined,
      change: isCompared(diff) ? type : '',
      isLate: delay !== null || isOver,
      shownWidth: items.length === 1 && field === 'game_store_pic' ? undefined : shownWidth,
    });
  };
  const waits = waitsFor(game, list, gamePictures);
  const again = link(`/games/${game.game_id}/pictures`, { field, from: from ?? '', to, polls: polls + 1 });
  const every = polls < QUICK_POLLS ? 'load delay:800ms, every 15s' : 'every 15s';
  const poll =
    waits && isCurrent && !isOver ? html` hx-get="${again}" hx-trigger="${every}" hx-swap="outerHTML"` : null;
  const late = isLate ? html` hx-swap-oob="true"` : null;
  return html`<div class="pictures" id="pictures-${field}"${waits ? html` data-waits` : null}${poll}${late}>${items.map(
    place,
  )}${
    isCurrent
      ? seenPictures(items.flatMap(({ value, type }) => (type === 'removed' ? [] : [find(value)])))
      : null
  }</div>`;
};

/**
 * The pictures of some fields in one grid, below the reason why they are late. No later answer replaces the reason, so
 * nothing moves; a style hides it once no list waits.
 */
export const gallery = (
  game: GameRow,
  diff: GameDiff,
  lists: readonly ListDiff[],
  pictures: GamePictures,
): SafeHtml => {
  const waits = lists.some((list) => waitsFor(game, list, pictures));
  // Pictures that are not there have no link, so the keyboard scrolls the gallery itself.
  const scrolls = lists.some(({ items }) => items.length > UNSCROLLED_MAX)
    ? html` tabindex="0" role="group" aria-label="Pictures"`
    : null;
  return html`<div class="gallery"${scrolls}>${waits ? delayNotice(pictures.delay) : null}${lists.map(
    (list) => pictureList(game, diff, list, pictures),
  )}</div>`;
};

/**
 * The button that passes a game, for a page that shows it already. Once the button is enabled, the other list comes with
 * it, because that list may still say that its pictures are being fetched, and a decision names what the lists show.
 */
export const latePass = (
  game: GameRow,
  diff: GameDiff,
  { field }: ListDiff,
  pictures: GamePictures,
): SafeHtml => {
  const others = pictures.pass.waits ? [] : listsOf(diff).filter((each) => each.field !== field);
  return html`${passButton(game, pictures, true)}${others.map((each) =>
    pictureList(game, diff, each, pictures, { isLate: true }),
  )}`;
};
