/** The filters of a list as a page offers them, and as its address has them. */
import { z } from 'zod';
import { parseSince } from '#src/lib/since.ts';
import { type Control, controlsOf } from '#src/lists/filters.ts';
import { FILTERS, hiddenFields, html, inWords, link, type SafeHtml, select } from '#src/site/html.ts';

const paging = z.object({
  sort: z.string().max(50).optional().catch(undefined),
  cursor: z.string().max(8_192).optional().catch(undefined),
});

/** The name of a filter in the address of a page. */
const parameterOf = ({ name }: Control): string => (name === 'search' ? 'q' : name);

/** Converts a parameter of an address. Pages show times in UTC, so they read them in UTC. */
const toGiven = ({ kind }: Control, text: string): unknown => {
  if (kind === 'flag') return true;
  if (kind !== 'time') return text;
  try {
    return parseSince(text, 'UTC');
  } catch {
    return undefined;
  }
};

/**
 * Reads the filters of a list from the address of a page. A filter counts as absent if it is empty, wrong or fixed by the
 * page.
 */
export const readQuery = <Filter extends z.ZodObject>(filter: Filter, query: unknown, fixed: object) => {
  const given = z.record(z.string(), z.unknown()).catch({}).parse(query);
  const typed: Record<string, string> = {};
  const chosen: Record<string, unknown> = {};
  for (const [key, control] of controlsOf(filter)) {
    const text = given[parameterOf(control)];
    if (typeof text !== 'string' || text === '' || key in fixed) continue;
    const value = (filter.shape[key] as z.ZodType).safeParse(toGiven(control, text));
    if (!value.success || value.data === undefined) continue;
    chosen[key] = value.data;
    typed[parameterOf(control)] = text;
  }
  return { filter: chosen as z.infer<Filter>, typed, ...paging.parse(given) };
};

const filterField = (control: Control, value: string): SafeHtml => {
  const { kind, title, values } = control;
  const name = parameterOf(control);
  if (values !== undefined) {
    const offered = values.map((each) => [each, kind === 'choice' ? inWords(each) : each] as const);
    return select(name, title, [['', `every ${title.toLowerCase()}`], ...offered], value);
  }
  if (kind === 'flag')
    return html`<label class="checks">
<input type="checkbox" name="${name}" value="1"${value === '' ? null : html` checked`}> ${title}</label>`;
  if (kind === 'application')
    return html`<application-box class="field grow"><label for="of-${name}">${title}</label>
<input type="search" name="${name}" id="of-${name}" value="${value}" list="all-${name}">
<datalist id="all-${name}"></datalist></application-box>`;
  const type = kind === 'time' ? 'text' : 'search';
  const hint = kind === 'time' ? html` placeholder="24h or 2026-03-31" size="18"` : null;
  return html`<label class="field${kind === 'time' ? null : ' grow'}"><span>${title}</span>
<input type="${type}" name="${name}" value="${value}"${hint}></label>`;
};

type FormOptions = {
  path: string;
  typed: Record<string, string>;
  /** Keys that have no control, because the page fixes them or offers them in another way. */
  without: readonly string[];
  /** Keys of `without` that stay when the form is sent. */
  tabs: readonly string[];
  kept: Record<string, string>;
};

/** The form above a list. */
export const filterForm = (
  filter: z.ZodObject,
  { typed, without, tabs, kept, path }: FormOptions,
): SafeHtml | null => {
  const controls = controlsOf(filter);
  const offered = controls.filter(([key]) => !without.includes(key));
  const fields = offered.map(([, control]) => filterField(control, typed[parameterOf(control)] ?? ''));
  if (fields.length === 0) return null;
  const isFiltered = offered.some(([, control]) => typed[parameterOf(control)] !== undefined);
  const hidden = controls
    .filter(([key]) => tabs.includes(key))
    .map(([, control]) => [parameterOf(control), typed[parameterOf(control)]] as const);
  const stays = { ...Object.fromEntries(hidden), ...kept };
  const clear = isFiltered ? html`<a class="button quiet" href="${link(path, stays)}">Clear</a>` : null;
  return html`<form method="get" ${FILTERS} role="search" aria-label="Filter">
${hiddenFields(stays)}${fields}
<button class="button">Filter</button>${clear}</form>`;
};
