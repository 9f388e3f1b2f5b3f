/** The content of a game: first the changed fields, then the unchanged ones, folded. */
import stringWidth from 'string-width';
import { gallery } from '#src/console/pages/game-pictures.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { languageOf } from '#src/lib/languages.ts';
import { isCompared } from '#src/review/compare-revisions.ts';
import type { FieldDiff, TextPart } from '#src/rules/diff.ts';
import { CONTENT } from '#src/rules/mapping.ts';
import { badge, html, type SafeHtml, section } from '#src/site/html.ts';

/** A part of a text, marked if it was removed or added. @param content the part, as it is shown */
const markPart = ({ type }: TextPart, isMarked: boolean, content: SafeHtml): SafeHtml => {
  if (!isMarked || type === 'same') return content;
  return type === 'removed' ? html`<del>${content}</del>` : html`<ins>${content}</ins>`;
};

/**
 * A link to an address of an application, which opens a tab and says where it leads. An address that is not of the web is
 * only text, because it may start a program; a stolen worker could store one.
 */
const outwardLink = (url: string): SafeHtml => {
  const { protocol = '', host } = URL.parse(url) ?? {};
  if (!/^https?:$/.test(protocol)) return html`<p class="mono soft">${url}</p>`;
  return html`<a href="${url}" rel="noreferrer noopener nofollow" target="_blank">Open on ${host}</a>
<span class="soft">(new tab)</span><br><span class="mono soft cut" title="${url}">${url}</span>`;
};

/** A longer text scrolls in its part of the page, by keyboard too. */
const LONG_TEXT = 600;

type TextDiff = Extract<FieldDiff, { kind: 'text' }>;

const textBody = ({ field, parts }: TextDiff, areMarked: boolean): SafeHtml => {
  const text = parts.map((part) => part.text).join('');
  const [only] = parts;
  if (field === 'game_store_video' && parts.length === 1 && only !== undefined)
    return html`<div class="body">${markPart(only, areMarked, outwardLink(only.text))}</div>`;
  const prose = html`<div class="prose" dir="auto" lang="${languageOf(text)}">${parts.map((part) =>
    markPart(part, areMarked, html`${part.text}`),
  )}</div>`;
  // A link in parts could not be opened.
  const now = parts.map((part) => (part.type === 'removed' ? '' : part.text)).join('');
  if (field === 'game_store_video') return html`<div class="body">${prose}${outwardLink(now)}</div>`;
  if (text.length < LONG_TEXT && text.split('\n').length < 12) return html`<div class="body">${prose}</div>`;
  return html`<section class="body clip" tabindex="0" aria-label="${CONTENT[field].title}">${prose}</section>`;
};

const fieldBody = (field: FieldDiff, { diff, pictures, game }: GameView): SafeHtml =>
  field.kind === 'text' ? textBody(field, isCompared(diff)) : gallery(game, diff, [field], pictures);

/** Did the field's words, its addresses, or bytes behind an address change? */
const isChanged = (field: FieldDiff, { diff, pictures }: GameView): boolean =>
  (isCompared(diff) && field.changed) ||
  (field.kind === 'list' &&
    diff.to === diff.game.revision &&
    field.items.some(({ type, value }) => type !== 'removed' && pictures.former.has(value)));

/** Is there nothing to show, of either revision? */
const isEmpty = (field: FieldDiff): boolean =>
  field.kind === 'text' ? field.parts.every(({ text }) => text === '') : field.items.length === 0;

/** A part of the page that says that the game has no such content. */
const emptyCard = (title: string): SafeHtml =>
  section(title, [], { aside: html`<span class="soft">none</span>` });

const fieldCard = (field: FieldDiff, view: GameView, aside?: SafeHtml): SafeHtml =>
  isEmpty(field)
    ? emptyCard(CONTENT[field.field].title)
    : section(CONTENT[field.field].title, fieldBody(field, view), { aside });

/** The pictures and, after them, the icons, in one part of the page. */
const picturesCard = ({ diff, pictures, game }: GameView): SafeHtml => {
  const lists = diff.fields.filter((field) => field.kind === 'list').toReversed();
  if (lists.every(({ items }) => items.length === 0)) return emptyCard('Pictures');
  return html`<section class="card" aria-label="Icon and pictures">
${gallery(game, diff, lists, pictures)}</section>`;
};

/** The heading shows names up to this width whole on every screen. Full-width characters take two columns. */
const HEADING_COLUMNS = 48;
/** Most characters of such a name, because some take no column. */
const HEADING_MAX = 200;

const nameOf = ({ diff }: GameView): TextDiff | undefined =>
  diff.fields.find((field): field is TextDiff => field.field === 'game_name');

/** Is the name of the game whole in the heading? A longer one is cut there, and has a card of its own. */
const fitsHeading = (view: GameView): boolean => {
  const name =
    nameOf(view)
      ?.parts.map(({ text }) => text)
      .join('') ?? '';
  return name.length <= HEADING_MAX && stringWidth(name) <= HEADING_COLUMNS;
};

/** The name of a game in the heading, with its words that changed. @param title the name, never empty */
export const gameHeading = (view: GameView, title: string): SafeHtml | string => {
  if (!fitsHeading(view)) return title;
  const name = nameOf(view);
  if (!name?.changed || !isCompared(view.diff)) return title;
  return html`${name.parts.map((part) => markPart(part, true, html`${part.text}`))}`;
};

/** Has the field a card among the texts? The name has one if the heading cuts it. */
const isTextCard = ({ kind, field }: FieldDiff, view: GameView): boolean =>
  kind === 'text' && (field !== 'game_name' || !fitsHeading(view));

/** Shows a game that is seen for the first time: the pictures over the whole width, and the texts. */
const wholeContent = (view: GameView): { wide: SafeHtml; texts: SafeHtml[] } => ({
  wide: picturesCard(view),
  texts: view.diff.fields.filter((field) => isTextCard(field, view)).map((field) => fieldCard(field, view)),
});

const changedContent = (
  view: GameView,
  changed: readonly FieldDiff[],
): { wide: SafeHtml; texts: SafeHtml[] } => {
  const { fields } = view.diff;
  const changedCard = (field: FieldDiff): SafeHtml => fieldCard(field, view, badge('changed'));
  const name = nameOf(view);
  const isUnchangedName = name !== undefined && !changed.includes(name) && isTextCard(name, view);
  const same = fields.filter((field) => field !== name && !changed.includes(field));
  const titles = same.map(({ field }) => CONTENT[field].title.toLowerCase()).join(', ');
  const folded = html`<details class="card unchanged"><summary>Unchanged: ${titles}</summary>
${same.map((field) => fieldCard(field, view))}</details>`;
  return {
    wide: html`${changed.filter(({ kind }) => kind === 'list').map(changedCard)}`,
    texts: [
      ...(isUnchangedName ? [fieldCard(name, view)] : []),
      ...changed.filter((field) => isTextCard(field, view)).map(changedCard),
      ...(same.length === 0 ? [] : [folded]),
    ],
  };
};

/** The fields that the page shows as changed. */
export const changedFields = (view: GameView): FieldDiff[] =>
  view.diff.fields.filter((field) => isChanged(field, view));

/** Shows the content of a game. @returns the parts over the whole width, and those beside the facts */
export const gameContent = (view: GameView): { wide: SafeHtml; texts: SafeHtml[] } => {
  const changed = changedFields(view);
  return changed.length === 0 ? wholeContent(view) : changedContent(view, changed);
};
