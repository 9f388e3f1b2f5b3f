/** Tables of the pages. */
import { attribute, html, NONE, type SafeHtml, type SectionOptions, section } from '#src/site/html.ts';

/** One column of a table. */
export type TableColumn<Row> = {
  head: string;
  cell: (row: Row) => SafeHtml | string | number | null;
  /** Right-aligned figures. */
  numeric?: boolean;
  /**
   * `short`: our own words, on one line. `words` and `names`: wide enough that an id or a name does not break. `age`: as
   * wide as the longest time, so that nothing moves when it grows.
   */
  fit?: 'short' | 'words' | 'names' | 'age';
  /** Hidden below this width, in pixels. */
  minWidth?: 640 | 900 | 1200 | 1400;
  /** Shown only below 900 pixels. */
  isNarrow?: boolean;
  /** Its head is a link that sorts. */
  sort?: { url: string; direction: 'ascending' | 'descending' | 'none' };
};

export type TableOptions<Row = never> = {
  /** Instead of a table without rows. */
  empty: SafeHtml | string;
  label: string;
  /**
   * Below 900 pixels each row is a list of its cells with their heads: for rows with long values. `lines`: without the
   * heads and the figures, one after the other, for cells that say what they are.
   */
  stacked?: boolean | 'lines';
  /** A form in the full width below the row, shown while `openBelow` of the row is open. Null: none. */
  below?: ((row: Row) => SafeHtml | null) | undefined;
};

/** The button of a row that shows what is below it (data.css). It needs no script. @param name of the row */
export const openBelow = (label: string, name: string): SafeHtml =>
  html`<details class="opens-below">
<summary class="button quiet">${label}<span class="hidden"> ${name}</span></summary></details>`;

const classOf = <Row>({ numeric, fit, minWidth, isNarrow }: TableColumn<Row>): SafeHtml | null => {
  const classes = [
    numeric ? 'num' : '',
    fit ?? '',
    minWidth ? `from-${minWidth}` : '',
    isNarrow ? 'to-900' : '',
  ];
  return attribute('class', classes.filter(Boolean).join(' ') || undefined);
};

const headCell = <Row>(column: TableColumn<Row>): SafeHtml => {
  const { head, sort } = column;
  const text = sort === undefined ? head : html`<a class="sort" href="${sort.url}">${head}</a>`;
  return html`<th scope="col"${classOf(column)}${attribute('aria-sort', sort?.direction)}>${text}</th>`;
};

const bodyCell = <Row>(column: TableColumn<Row>, row: Row, stacked: boolean): SafeHtml => {
  const content = column.cell(row) ?? NONE;
  if (!stacked) return html`<td${classOf(column)}>${content}</td>`;
  // One element beside the head of its cell.
  return html`<td${classOf(column)} data-head="${column.head}"><div>${content}</div></td>`;
};

/** A table, or a sentence if there are no rows. */
export const table = <Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { empty, label, stacked = false, below }: TableOptions<Row>,
): SafeHtml => {
  if (rows.length === 0) return html`<div class="empty"><p>${empty}</p></div>`;
  const lines = rows.map((row) => {
    const form = below?.(row) ?? null;
    const more = form && html`<tr class="below"><td colspan="${columns.length}">${form}</td></tr>`;
    return html`<tr data-item>${columns.map((column) => bodyCell(column, row, stacked !== false))}</tr>${more}`;
  });
  return html`<section class="scroll" tabindex="0" aria-label="${label}">
<table${attribute('class', stacked === 'lines' ? 'stacked lines' : stacked ? 'stacked' : undefined)}>
<thead><tr>${columns.map(headCell)}</tr></thead>
<tbody>${lines}</tbody></table></section>`;
};

/** A titled table. @param options.label by default the title */
export const tableSection = <Row>(
  title: string,
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  {
    aside,
    label = title,
    ...options
  }: Omit<TableOptions<Row>, 'label'> & { label?: string } & Pick<SectionOptions, 'aside'>,
): SafeHtml => section(title, table(rows, columns, { label, ...options }), { aside });

/** Links between the pages of a list; nothing if there is only one page. */
export const pager = (
  links: readonly (readonly [label: string, url: string | undefined])[],
): SafeHtml | null => {
  const shown = links.flatMap(([label, url]) =>
    url === undefined ? [] : [html`<a class="button" href="${url}">${label}</a>`],
  );
  return shown.length === 0 ? null : html`<nav class="pager" aria-label="Pages">${shown}</nav>`;
};
