/** `/runs` and `/runs/:run_id`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listRunItems, listRunPages, type RunPageItem } from '#db/queries/console.ts';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { addWithdrawals, showWithdrawals } from '#src/console/pages/withdrawals.ts';
import { DETAIL_COUNTERS, RUN_COUNTERS, RUN_OUTCOMES } from '#src/contract/words.ts';
import { withoutAdvice } from '#src/rules/answer.ts';
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
const OUTCOMES = ['open', ...RUN_OUTCOMES] as const;

const query = z.object({ application: optionalText, outcome: optionalWord(OUTCOMES), before: optionalId });

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

/** The columns of a table of runs. */
export const RUN_COLUMNS: Column<RunRow>[] = [
  {
    head: 'Started',
    cell: (row) => html`<a href="/runs/${row.run_id}">${ago(row.started_at)}</a>`,
  },
  { head: 'Application', fit: 'words', cell: (row) => applicationLink(row.application_id) },
  { head: 'Outcome', cell: (row) => badge(row.outcome ?? 'open') },
  {
    head: 'Trigger',
    fit: 'short',
    minWidth: 1400,
    cell: (row) => `${row.trigger}${row.full ? ', full' : ''}`,
  },
  { head: 'Took', minWidth: 900, numeric: true, cell: duration },
  ...RUN_COUNTERS.map((name) => counterColumn<RunRow>(name, LAST_COUNTERS.includes(name) ? 1400 : 1200)),
];

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
    const { application, outcome, before } = query.parse(request.query);
    const runs = await listRunItems(sql, { application_id: application, outcome, before, limit: PAGE });
    const filters = { application, outcome };
    const body = html`<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Application</span><input type="search" name="application" value="${application ?? ''}" placeholder="application id"></label>
${select('outcome', 'Outcome', [['', 'every outcome'], ...OUTCOMES.map((each) => [each, each] as const)], outcome ?? '')}
<button class="button">Filter</button></form>
${tableSection('Runs, latest first', runs, RUN_COLUMNS, { empty: application === undefined && outcome === undefined ? 'No application has run yet.' : 'No run matches.', label: 'Runs' })}
${pager([
  ['Latest', before === undefined ? null : link('/runs', filters)],
  ['Earlier', runs.length === PAGE ? link('/runs', { ...filters, before: runs.at(-1)?.run_id }) : null],
])}`;
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
