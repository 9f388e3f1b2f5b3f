/** `/figures`: what reviewers decided; `/figures/rejections`: how their rejections fared. */
import type { FastifyInstance } from 'fastify';
import { type FiguresRow, readMedianWait } from '#db/queries/review-figures.ts';
import { barChart } from '#src/console/charts.ts';
import { linkTo } from '#src/console/links.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { formatDay } from '#src/lib/utc.ts';
import { figuresList } from '#src/lists/figures.ts';
import { overturnedList } from '#src/lists/threads.ts';
import { sendPage } from '#src/site/answers.ts';
import { formatDuration, html, number, type SafeHtml, section, stat, toneOf } from '#src/site/html.ts';
import { type ShownList, showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;

/** Other pages show the first of these rows; their heads and *Next* lead here. */
export const REJECTIONS = '/figures/rejections';

type Figures = Pick<ShownList<FiguresRow, object>, 'rows' | 'pager'>;

const COUNTS = ['decisions', 'passed', 'rejected', 'overturned'] as const;

const sum = (rows: Figures['rows'], key: (typeof COUNTS)[number]): number =>
  rows.reduce((total, row) => total + row[key], 0);

/** The sums of all days, and how long games waited. Nothing if the page does not have all days. */
const totals = ({ rows, pager }: Figures, wait_ms: number | null): SafeHtml | null => {
  if (pager !== null || rows.length < 2) return null;
  return html`<div class="stats">${COUNTS.map((key) => stat(key, number(sum(rows, key))))}
${wait_ms === null ? null : stat('median wait', formatDuration(wait_ms))}</div>`;
};

/** As many days as a chart can show. */
const DAYS_MAX = 366;

/** The days from the first to the last one, those without a decision included. */
const listDays = (rows: Figures['rows']): string[] => {
  const times = rows.map(({ day }) => Date.parse(day));
  const first = Math.min(...times);
  const days = rows.length === 0 ? 0 : (Math.max(...times) - first) / DAY_MS + 1;
  return Array.from({ length: days }, (_day, index) => formatDay(new Date(first + index * DAY_MS)));
};

/** The decisions of each day. Nothing if the page does not have all days, or they are too many. */
const decisionChart = ({ rows, pager }: Figures): SafeHtml | null => {
  const days = listDays(rows);
  if (days.length < 2 || days.length > DAYS_MAX || pager !== null) return null;
  const series = (['passed', 'rejected'] as const).map((name) => ({
    name,
    tone: toneOf(name),
    values: days.map((each) =>
      sum(
        rows.filter(({ day }) => day === each),
        name,
      ),
    ),
  }));
  const total = `${number(sum(rows, 'decisions'))} decisions`;
  return section('By day', barChart('Decisions a day', days, series, total));
};

/** Adds `/figures`. */
export const addFigures = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/figures', { config: { right: figuresList.right } }, async (request, reply) => {
    const sources = sourcesOf(options);
    const view = { path: '/figures', query: request.query, limit: PAGE };
    const figures = await showList(sources, figuresList, view);
    const { since } = figures.typed;
    const [fared, wait_ms] = await Promise.all([
      showList(sources, overturnedList, { path: REJECTIONS, query: { since }, limit: PAGE }),
      readMedianWait(options.sql, figures.filter.since),
    ]);
    const decisions = figures.body({ linkTo, title: 'Decisions', label: 'Decisions', stacked: 'lines' });
    return sendPage(reply, {
      title: 'Figures',
      at: '/figures',
      lead: 'Decisions by day and reviewer, the last 30 days by default. Days are in UTC.',
      body: html`${figures.filters}${totals(figures, wait_ms)}${decisionChart(figures)}${decisions}
${fared.body({ linkTo, title: 'How rejections fared', label: 'Rejections by reason' })}`,
    });
  });

  app.get(REJECTIONS, { config: { right: overturnedList.right } }, async (request, reply) => {
    const view = { path: REJECTIONS, query: request.query, limit: PAGE };
    const fared = await showList(sourcesOf(options), overturnedList, view);
    return sendPage(reply, {
      title: 'How rejections fared',
      at: '/figures',
      lead: 'Rejections by reviewer and reason, the last 30 days by default.',
      body: html`${fared.filters}${fared.body({ linkTo, label: 'Rejections by reason' })}`,
    });
  });
};
