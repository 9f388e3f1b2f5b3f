/** Charts as SVG, made on the server, each with its figures as a table behind it. */
import { RUN_OUTCOMES, type RunOutcome } from '#src/contract/words.ts';
import { html, number, type SafeHtml, type Tone, toneOf } from '#src/site/html.ts';
import { table } from '#src/site/table.ts';

export type Series = {
  name: string;
  tone: Tone | 'accent';
  values: readonly number[];
};

/** The series of each outcome of runs. */
export const outcomeSeries = (valuesOf: (outcome: RunOutcome) => number[]): Series[] =>
  RUN_OUTCOMES.map((name) => ({ name, tone: toneOf(name), values: valuesOf(name) }));

const WIDTH = 480;
const HEIGHT = 96;
const GAP = 2;
/** Widest bar, so that a chart of few bars has no blocks. */
const BAR_MAX = 28;

/**
 * Stacked bars over time.
 * @param labels one for each bar, such as `14:00`
 */
export const barChart = (
  title: string,
  labels: readonly string[],
  series: readonly Series[],
  figures: SafeHtml | string = '',
): SafeHtml => {
  const totals = labels.map((_label, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const most = Math.max(0, ...totals);
  const max = Math.max(1, most);
  const step = WIDTH / Math.max(1, labels.length);
  const width = Math.min(BAR_MAX, Math.max(1, step - GAP));
  const bars = labels.map((label, index) => {
    let top = HEIGHT;
    const parts = series.map(({ values, tone }) => {
      const value = values[index] ?? 0;
      if (value === 0) return null;
      // At least 2, so that a bar of one among thousands is visible.
      const height = Math.max(2, (value / max) * (HEIGHT - 4));
      top -= height;
      return rect(tone, { x: index * step + (step - width) / 2, y: Math.max(0, top), width, height });
    });
    const counts = series.map(({ name, values }) => `${number(values[index] ?? 0)} ${name}`).join(', ');
    return html`<g><title>${label}: ${counts}</title>
${rect('none', { x: index * step, y: 0, width: step, height: HEIGHT })}${parts}</g>`;
  });
  const figuresTable = table(
    [...labels.keys()],
    [
      { head: 'Time', cell: (index) => labels[index] ?? '' },
      ...series.map(({ name, values }) => ({
        head: name,
        numeric: true,
        cell: (index: number) => number(values[index] ?? 0),
      })),
    ],
    { empty: '', label: `${title}, figures` },
  );
  return html`<figure class="chart">
<figcaption><span>${title}${most === 0 ? ': none' : `, at most ${number(most)}`}</span><strong>${figures}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
<line class="axis" x1="0" x2="${WIDTH}" y1="${HEIGHT - 0.5}" y2="${HEIGHT - 0.5}"></line>${bars}</svg>
<div class="axis-labels" aria-hidden="true"><span>${labels[0] ?? ''}</span><span>${labels.at(-1) ?? ''}</span></div>
${series.length > 1 ? legend(series) : null}
<details><summary>As a table</summary>${figuresTable}</details>
</figure>`;
};

type Box = { x: number; y: number; width: number; height: number };

const rect = (tone: string, { x, y, width, height }: Box): SafeHtml => {
  const rounded = tone === 'none' ? null : html` rx="1.5"`;
  return html`<rect class="fill ${tone}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}"
 height="${height.toFixed(1)}"${rounded}></rect>`;
};

const legend = (series: readonly Series[]): SafeHtml =>
  html`<ul class="legend">${series.map(
    ({ name, tone }) => html`<li><span class="dot ${tone}"></span>${name}</li>`,
  )}</ul>`;
