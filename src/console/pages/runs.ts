/** `/runs` and `/runs/:run_id`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listRunPages, type RunPageItem } from '#db/queries/console.ts';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { addWithdrawals, showWithdrawals } from '#src/console/pages/withdrawals.ts';
import { DETAIL_COUNTERS, RUN_COUNTERS, RUN_OUTCOMES } from '#src/contract/words.ts';
import { withoutAdvice } from '#src/review/answer.ts';
import { operatorOf, sendError, sendPage } from '#src/site/answers.ts';
import {
  ago,
  applicationLink,
  badge,
  type Column,
  clock,
  FILTERS,
  facts,
  formatAge,
  html,
  link,
  mono,
  number,
  pager,
  section,
  select,
  tableSection,
  toneOf,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, optionalId, optionalText, optionalWord, toId } from '#src/site/query.ts';

const PAGE = 50;
const PAGES_SHOWN = 200;

const duration = ({ started_at, finished_at }: RunRow): string =>
  formatAge((finished_at ?? new Date()).getTime() - started_at.getTime());

/** Counters that a table shows in a window of 640 pixels: what came, and what did not. */
const FIRST_COUNTERS: readonly string[] = ['listed', 'inserted', 'failed', 'waiting'];
/** Counters that need nobody: the last for which a table has room. */
const LAST_COUNTERS: readonly string[] = ['updated', 'unchanged'];

/** @param minWidth of other counters */
const counterColumn = <Row extends object>(
  name: keyof Row & string,
  minWidth: 900 | 1200 | 1400,
): Column<Row> => ({
  head: name[0]?.toUpperCase() + name.slice(1),
  numeric: true,
  minWidth: FIRST_COUNTERS.includes(name) ? 640 : minWidth,
  cell: (row) => {
    const value = row[name] as number;
    return value === 0 ? html`<span class="none">0</span>` : number(value);
  },
});

const PAGE_COLUMNS: Column<RunPageItem>[] = [
  { head: 'Page', cell: (row) => row.page_num },
  {
    head: 'Kind',
    cell: (row) => html`${row.kind}${row.reason === null ? null : html`<br><small>${row.reason}</small>`}`,
  },
  { head: 'Rows', numeric: true, cell: (row) => number(row.row_count) },
  ...([...DETAIL_COUNTERS, 'waiting'] as const).map((name) => counterColumn<RunPageItem>(name, 900)),
  { head: 'Listed', minWidth: 640, cell: (row) => ago(row.listed_at) },
];

/** Adds `/runs` and `/runs/:run_id`. */
export const addRuns = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/runs', { config: { right: 'view' } }, async (request, reply) => {
    const { filters, body: rows } = await showList(sql, runList, {
      path: '/runs',
      query: request.query,
      rows: PAGE,
      linkTo,
      label: 'Runs',
    });
    const body = html`${filters}${section('Runs', rows)}`;
    return sendPage(reply, { title: 'Runs', at: '/runs', body });
  });

  app.get<ById<'run_id'>>('/runs/:run_id', { config: { right: 'view' } }, async (request, reply) => {
    const run_id = toId(request.params.run_id);
    const run = run_id === undefined ? undefined : await findRun(sql, run_id);
    if (run_id === undefined || run === undefined) {
      const message = 'There is no run with this id: it may have been pruned after 90 days.';
      return sendError(reply, 404, 'No such run', message);
    }
    const [pages, withdrawals] = await Promise.all([
      listRunPages(sql, run_id, PAGES_SHOWN),
      run.outcome === 'suspect' ? showWithdrawals(options, operatorOf(request), run) : null,
    ]);
    const body = html`
${run.reason === null ? null : html`<p class="notice ${toneOf(run.outcome ?? 'open')}">${withoutAdvice(run.reason)}</p>`}
<div class="stats eighths">${RUN_COUNTERS.map((name) => html`<div class="stat"><span>${name}</span><strong>${number(run[name])}</strong></div>`)}</div>
<div class="columns">
${section(
  'Run',
  facts([
    ['Run id', mono(run.run_id)],
    ['Started', clock(run.started_at)],
    ['Ended', run.finished_at === null ? 'still open' : clock(run.finished_at)],
    ['Took', duration(run)],
    [
      'Trigger',
      `${run.trigger}${run.full ? ', full' : ''}${run.accept_withdrawals ? ', withdrawals accepted' : ''}`,
    ],
  ]),
)}
${section(
  'Listing',
  facts([
    ['Ended by', run.listing_end ?? (run.finished_at === null ? 'not ended' : '–')],
    ['Rows', number(run.row_count)],
    [
      'Total, first and last',
      run.total_first === null ? null : `${run.total_first}, ${run.total_last ?? '–'}`,
    ],
    ['Next page', run.next_page],
    ['Note', run.note],
  ]),
)}
</div>
${withdrawals}
${tableSection('Pages, latest first', pages, PAGE_COLUMNS, {
  empty: 'No page is recorded, or they were pruned: pages stay for three days.',
  label: 'Pages of the run',
})}`;
    return sendPage(reply, {
      title: `Run of ${run.application_id}`,
      at: '/runs',
      body,
      parent: ['Runs', '/runs'],
      lead: html`${badge(run.outcome ?? 'open')} ${ago(run.finished_at ?? run.started_at)}`,
      actions: html`<a class="button" href="/applications/${run.application_id}">Application</a>`,
    });
  });

  addWithdrawals(app, options);
};
