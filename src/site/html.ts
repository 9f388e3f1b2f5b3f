/** The small parts of which every page is made. `html` escapes what it is given; `html.raw` is not used. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { DAY_MS } from '#src/lib/duration.ts';
import { DIRECTION_CONTROLS, nameOr } from '#src/lib/printable.ts';
import { formatDay, formatUtc } from '#src/lib/utc.ts';
import { type Tone, toneOf } from '#src/site/tones.ts';

export { html, type SafeHtml, type Tone, toneOf };

/** A dash in place of an absent value. */
export const NONE = html`<span class="none">–</span>`;

const UNITS: [limitS: number, unitS: number, short: string][] = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [172_800, 3_600, 'h'],
];

/** A duration in one unit, such as `4 min`, that no line break divides. @param ms negative counts as 0 */
export const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [, unit, short] = UNITS.find(([limit]) => seconds < limit) ?? [seconds, 86_400, 'd'];
  return `${Math.floor(seconds / unit)}\u00a0${short}`;
};

/** Beyond this, days are hard to count: pages show the date. */
const DATED_MS = 30 * DAY_MS;

const relative = (time: Date): string => {
  const ms = Date.now() - time.getTime();
  if (Math.abs(ms) >= DATED_MS) return formatDay(time);
  return ms >= 0 ? `${formatDuration(ms)} ago` : `in ${formatDuration(-ms)}`;
};

/** Shows a time relative to now, or its date if it is 30 days away; its title is the time in UTC. Null: a dash. */
export const ago = (time: Date | null | undefined): SafeHtml => {
  if (time === null || time === undefined) return NONE;
  return html`<time datetime="${time.toISOString()}" title="${formatUtc(time)}">${relative(time)}</time>`;
};

/** Shows when something is due: `in 4 min`, its date, or `now` if the time has passed. */
export const due = (time: Date | null): SafeHtml | string =>
  time === null || time.getTime() <= Date.now() ? 'now' : ago(time);

/** A time in UTC, to the second. */
export const clock = (time: Date): SafeHtml =>
  html`<time datetime="${time.toISOString()}">${formatUtc(time)}</time>`;

const WHOLE = new Intl.NumberFormat('en');

/** A whole number with commas, such as `12,034`. */
export const number = (value: number): string => WHOLE.format(value);

/** A count that stops above `max`, such as `1,000+`. */
export const numberUpTo = (max: number, value: number): string =>
  value > max ? `${number(max)}+` : number(value);

/** An id, an address or a word of the protocol. */
export const mono = (text: string): SafeHtml => html`<span class="mono">${text}</span>`;

/** An id that people copy (browser/elements/copy-text.ts). */
export const copyable = (text: string): SafeHtml => html`<copy-text class="mono">${text}</copy-text>`;

const TAIL = 4;

/** An id of a table, which keeps its end where it is cut: UUIDs of the same time begin alike. */
export const copyableId = (id: string): SafeHtml =>
  html`<copy-text class="mono id"><span>${id.slice(0, -TAIL)}</span><span>${id.slice(-TAIL)}</span></copy-text>`;

/** A link to an application's page. */
export const applicationLink = (application_id: string, text: SafeHtml | string = application_id): SafeHtml =>
  html`<a href="/applications/${application_id}" dir="auto">${text}</a>`;

const NAMED_MAX = 60;

/** The beginning of a name inside a sentence, without characters that would reorder the words beside it. */
export const nameInText = (name: string): string =>
  nameOr(name.replaceAll(DIRECTION_CONTROLS, '').slice(0, NAMED_MAX).toWellFormed());

/** The name of a game in a link. A muted placeholder replaces an empty name, because an empty link is invisible. */
export const gameName = (name: string): SafeHtml | string => {
  const shown = nameOr(name);
  return shown === name ? name : html`<span class="none">${shown}</span>`;
};

/** Writes a word of the code with spaces: `not_provided` as "not provided". Names such as `cp_id` and of events stay. */
export const inWords = (status: string): string => status.replaceAll(/(?<!\..*)_(?!id(?:_|$))/g, ' ');

/** A status as a coloured word: the word carries the meaning, not the colour. */
export const badge = (status: string, tone: string = toneOf(status)): SafeHtml =>
  html`<span class="badge ${tone}">${inWords(status)}</span>`;

/** The status of a game, and whether it is withdrawn. */
export const statusBadges = (game: { audit_status: string; withdrawn_at: Date | null }): SafeHtml =>
  html`${badge(game.audit_status)}${game.withdrawn_at === null ? null : html` ${badge('withdrawn')}`}`;

/** The attribute of the link to the page that is shown. */
export const CURRENT = html` aria-current="page"`;

/** An attribute with a space before it; nothing without a value. */
export const attribute = (name: string, value: string | undefined): SafeHtml | null =>
  value === undefined ? null : html` ${name}="${value}"`;

export type SectionOptions = {
  aside?: SafeHtml | undefined;
  id?: string | undefined;
  tone?: Tone | undefined;
};

/** A part of a page. @param title undefined if the heading of the page says what it is */
export const section = (
  title: SafeHtml | string | undefined,
  body: SafeHtml | SafeHtml[],
  { aside, id, tone }: SectionOptions = {},
): SafeHtml => {
  const heading = title === undefined ? null : html`<h2>${title}</h2>`;
  const isHeadless = heading === null && aside === undefined;
  const head = isHeadless ? null : html`<div class="card-head">${heading}${aside ?? null}</div>`;
  return html`<section class="card${tone === undefined ? '' : ` ${tone}`}"${attribute('id', id)}>
${head}${body}</section>`;
};

/** A figure with its label, and a note below it; a link if it has a `url`. */
export const stat = (
  label: string,
  value: string,
  { url, note, tone = '' }: { url?: string; note?: string | undefined; tone?: string } = {},
): SafeHtml => {
  const shown = html`<span>${label}</span><strong>${value}</strong>${note === undefined ? null : html`<span>${note}</span>`}`;
  return url === undefined
    ? html`<div class="stat">${shown}</div>`
    : html`<a class="stat ${tone}" href="${url}">${shown}</a>`;
};

/** A list of names and values. */
export const facts = (entries: readonly (readonly [string, SafeHtml | string | number | null])[]): SafeHtml =>
  html`<dl class="facts">${entries.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? NONE}</dd></div>`,
  )}</dl>`;

/**
 * Faster from game to game (docs/performance.md): htmx follows this link or form and replaces the body, so the browser
 * keeps the scripts and styles. One at a time. Without scripts it is a link or form as any other.
 */
export const IN_PLACE = html` hx-boost="swap:outerHTML" hx-sync="body:drop"`;

/**
 * Attributes of a form that filters the page below it. `autocomplete` is off, because a browser that goes back would
 * restore the choice that left the page, beside rows of another one.
 */
export const FILTERS = html`class="filters" autocomplete="off"`;

/** The hidden fields of a form; undefined values are left out. */
export const hiddenFields = (fields: Record<string, string | undefined>): SafeHtml[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );

type ActionOptions = {
  fields?: Record<string, string | undefined>;
  kind?: string;
  key?: string;
  inPlace?: boolean;
  id?: string;
};

/** A button that posts a form of its own. */
export const action = (
  url: string,
  label: SafeHtml | string,
  { fields = {}, kind = '', key, inPlace = false, id }: ActionOptions = {},
): SafeHtml => {
  const keyed = key === undefined ? label : html`${label} <kbd aria-hidden="true">${key}</kbd>`;
  const keys = html`${attribute('data-key', key)}${attribute('aria-keyshortcuts', key)}`;
  return html`<form method="post" action="${url}" class="inline"${attribute('id', id)}${inPlace ? IN_PLACE : null}>
${hiddenFields(fields)}<button class="button ${kind}"${keys}>${keyed}</button></form>`;
};

/** The first button of a form with several decisions, so that Enter in one of its boxes sends nothing. */
export const NO_DEFAULT = html`<button disabled hidden></button>`;

type Attributes = Record<string, string | number | boolean | null | undefined>;

const toAttribute = ([name, value]: [string, Attributes[string]]): SafeHtml | null =>
  value === true
    ? html` ${name}`
    : attribute(name, value === false || value == null ? undefined : String(value));

/** A field with its label. @param attributes of the input; of a flag, whether it has it */
export const input = (label: string, { grow = false, ...attributes }: Attributes): SafeHtml =>
  html`<label class="field${grow ? ' grow' : ''}"><span>${label}</span>
<input${Object.entries(attributes).map(toAttribute)}></label>`;

/** The attributes of a refused field, with the id of the sentence that says why. */
export const flawOf = (problem: string | undefined): Attributes =>
  problem === undefined ? {} : { 'aria-invalid': 'true', 'aria-describedby': 'problem' };

/** A sentence in place of an empty list or section. */
export const nothing = (sentence: SafeHtml | string): SafeHtml =>
  html`<div class="empty"><p>${sentence}</p></div>`;

/** A select. @param options values with their labels @param value the chosen one */
export const select = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, label: string])[],
  value: string,
  isRequired = false,
): SafeHtml =>
  html`<label class="field"><span>${label}</span>
<select name="${name}"${isRequired ? html` required` : null}>${options.map(
    ([option, text]) =>
      html`<option value="${option}"${option === value ? html` selected` : null}>${text}</option>`,
  )}</select></label>`;

/** An address of this console with a query; undefined and empty values are left out. */
export const link = (path: string, query: Record<string, string | number | undefined>): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') params.set(name, String(value));
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
};
