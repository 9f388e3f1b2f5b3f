/** The filters of a list as a page offers them, and as its address has them. */
import { z } from 'zod';
import { type Control, controlsOf } from '#src/lists/filters.ts';
import { FILTERS, hiddenFields, html, inWords, link, type SafeHtml, select } from '#src/site/html.ts';

const paging = z.object({
  sort: z.string().max(50).optional().catch(undefined),
  cursor: z.string().max(8_192).optional().catch(undefined),
  /** The place of the first row that the cursor leads to, for the reader alone. */
  from: z.coerce.number().int().positive().optional().catch(undefined),
});

/** A flag in the address of a page: on, or absent. */
const flag = z
  .stringbool()
  .catch(false)
  .transform((isOn) => isOn || undefined);

/** The name of a filter in the address of a page. */
const parameterOf = ({ name }: Control): string => (name === 'search' ? 'q' : name);

const WANTED_TIME = 'Give a duration as 24h or a date as 2026-03-31.';

/** A text of a filter that cannot be read, and the sentence that says why. */
type Flaw = { text: string; said: string };

/** Explains why the text of a field is refused. Nothing if the field has no text, or would not show it. */
const findFlaw = ({ kind, title, values }: Control, text: string, error: z.ZodError): Flaw | undefined => {
  if (text.trim() === '' || kind === 'flag' || values !== undefined) return undefined;
  const said = kind === 'time' ? WANTED_TIME : `${title}: ${error.issues[0]?.message}`;
  return { text, said };
};

/**
 * Reads the filters of a list from the address of a page. A filter counts as absent if it is empty, wrong or fixed by the
 * page. A wrong text is a flaw of its field. Times are in UTC, as pages show them.
 */
export const readQuery = <Filter extends z.ZodObject>(filter: Filter, query: unknown, fixed: object) => {
  const given = z.record(z.string(), z.unknown()).catch({}).parse(query);
  const typed: Record<string, string> = {};
  const flaws: Record<string, Flaw> = {};
  const chosen: Record<string, unknown> = {};
  for (const [key, control] of controlsOf(filter)) {
    const name = parameterOf(control);
    const text = given[name];
    if (typeof text !== 'string' || text === '' || key in fixed) continue;
    const read = control.kind === 'flag' ? flag.parse(text) : text;
    const value = (filter.shape[key] as z.ZodType).safeParse(read);
    const flaw = value.error && findFlaw(control, text, value.error);
    if (flaw !== undefined) flaws[name] = flaw;
    if (!value.success || value.data === undefined) continue;
    chosen[key] = value.data;
    typed[name] = text;
  }
  return { filter: chosen as z.infer<Filter>, typed, flaws, ...paging.parse(given) };
};

const flawId = (name: string): string => `flaw-${name}`;

const filterField = (
  control: Control,
  given: string,
  flaw: Flaw | undefined,
  words: Readonly<Record<string, string>>,
): SafeHtml => {
  const { kind, title, values } = control;
  const name = parameterOf(control);
  const value = flaw?.text ?? given;
  const marked = flaw && html` aria-invalid="true" aria-describedby="${flawId(name)}"`;
  if (values !== undefined) {
    const offered = values.map(
      (each) => [each, kind === 'choice' ? (words[each] ?? inWords(each)) : each] as const,
    );
    return select(name, title, [['', `every ${title.toLowerCase()}`], ...offered], value);
  }
  if (kind === 'flag')
    return html`<label class="checks">
<input type="checkbox" name="${name}" value="1"${value === '' ? null : html` checked`}> ${title}</label>`;
  if (kind === 'application')
    return html`<application-box class="field grow"><label for="of-${name}">${title}</label>
<input type="search" name="${name}" id="of-${name}" value="${value}" list="all-${name}"${marked}>
<datalist id="all-${name}"></datalist></application-box>`;
  const type = kind === 'time' ? 'text' : 'search';
  const hint = kind === 'time' ? html` placeholder="24h or 2026-03-31" size="18"` : null;
  return html`<label class="field${kind === 'time' ? null : ' grow'}"><span>${title}</span>
<input type="${type}" name="${name}" value="${value}"${hint}${marked}></label>`;
};

type FormOptions = {
  path: string;
  typed: Record<string, string>;
  flaws: Readonly<Record<string, Flaw>>;
  /** Keys that have no control, because the page fixes them or offers them in another way. */
  without: readonly string[];
  /** Keys of `without` that stay when the form is sent. */
  tabs: readonly string[];
  kept: Record<string, string>;
  /** What the page calls choices. */
  words: Readonly<Record<string, string>>;
};

/** The form above a list. */
export const filterForm = (
  filter: z.ZodObject,
  { typed, flaws, without, tabs, kept, path, words }: FormOptions,
): SafeHtml | null => {
  const controls = controlsOf(filter);
  const offered = controls.filter(([key]) => !without.includes(key));
  const fields = offered.map(([, control]) => {
    const name = parameterOf(control);
    return filterField(control, typed[name] ?? '', flaws[name], words);
  });
  if (fields.length === 0) return null;
  const names = offered.map(([, control]) => parameterOf(control));
  const isFiltered = names.some((name) => name in typed || name in flaws);
  const said = names.map((name) => {
    const flaw = flaws[name];
    return flaw && html`<p class="flaw" id="${flawId(name)}">${flaw.said}</p>`;
  });
  const hidden = controls
    .filter(([key]) => tabs.includes(key))
    .map(([, control]) => [parameterOf(control), typed[parameterOf(control)]] as const);
  const stays = { ...Object.fromEntries(hidden), ...kept };
  const clear = isFiltered ? html`<a class="button quiet" href="${link(path, stays)}">Clear</a>` : null;
  return html`<form method="get" ${FILTERS} role="search" aria-label="Filter">
${hiddenFields(stays)}${fields}
<button class="button">Filter</button>${clear}${said}</form>`;
};
