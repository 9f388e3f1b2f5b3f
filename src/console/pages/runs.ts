/** `/runs` and `/runs/:run_id`. */
import type { FastifyInstance } from 'fastify';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { linkTo } from '#src/console/links.ts';
import { addWithdrawals, showWithdrawals } from '#src/console/pages/withdrawals.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { RUN_COUNTERS, withoutAdvice } from '#src/contract/words.ts';
import { counterWord, explainRun, runList, runPageList } from '#src/lists/runs.ts';
import { operatorOf, sendError, sendPage } from '#src/site/answers.ts';
import {
  ago,
  badge,
  clock,
  copyable,
  facts,
  formatDuration,
  html,
  number,
  type SafeHtml,
  section,
  toneOf,
} from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, toId } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 50;

/** Why a run ended as it did, with codes in words. */
export const whyCell = (run: RunRow): SafeHtml | null => {
  const why = explainRun(run);
  return why === null ? null : html`<span dir="auto">${spellKinds(why)}</span>`;
};

const duration = ({ started_at, finished_at }: RunRow): string =>
  formatDuration((finished_at ?? new Date()).getTime() - started_at.getTime());

const reasonNotice = ({ reason, outcome }: RunRow): SafeHtml | null =>
  reason === null
    ? null
    : html`<p class="notice ${toneOf(outcome ?? 'open')}">${spellKinds(withoutAdvice(reason))}</p>`;

const counters = (run: RunRow): SafeHtml =>
  html`<div class="stats eighths">${RUN_COUNTERS.map(
    (name) => html`<div class="stat"><span>${counterWord(name)}</span>
<strong${run[name] === 0 ? html` class="none"` : null}>${number(run[name])}</strong></div>`,
  )}</div>`;

const course = (run: RunRow): SafeHtml => {
  const { trigger, full, accept_withdrawals } = run;
  const how = [trigger, full ? 'full' : '', accept_withdrawals ? 'withdrawals accepted' : ''];
  return section(
    'Run',
    facts([
      ['Run id', copyable(run.run_id)],
      ['Started', clock(run.started_at)],
      ['Ended', run.finished_at === null ? 'still open' : clock(run.finished_at)],
      ['Duration', duration(run)],
      ['Trigger', how.filter(Boolean).join(', ')],
    ]),
  );
};

const listing = ({ listing_end, finished_at, row_count, total_first, total_last, next_page, note }: RunRow) =>
  section(
    'Listing',
    facts([
      ['End of the list', listing_end ?? (finished_at === null ? 'not ended' : '–')],
      ['Rows', number(row_count)],
      ['Total on the first page', total_first === null ? null : number(total_first)],
      ['Total on the last page', total_last === null ? null : number(total_last)],
      ['Next page', next_page],
      ['Note', note],
    ]),
  );

/** Adds `/runs` and `/runs/:run_id`. */
export const addRuns = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);

  app.get('/runs', { config: { right: runList.right } }, async (request, reply) => {
    const view = { path: '/runs', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sources, runList, view);
    return sendPage(reply, {
      title: 'Runs',
      at: '/runs',
      body: html`${filters}${body({ linkTo, cells: { why: whyCell }, stacked: 'lines' })}`,
    });
  });

  app.get<ById<'run_id'>>('/runs/:run_id', { config: { right: 'view' } }, async (request, reply) => {
    const run_id = toId(request.params.run_id);
    const run = run_id === undefined ? undefined : await findRun(sql, run_id);
    if (run_id === undefined || run === undefined) {
      const message =
        'There is no run with this id. Of the runs that ended more than a day ago, an application keeps its newest 20 and the newest of each outcome.';
      return sendError(reply, 404, 'No such run', message);
    }
    const [pages, withdrawals] = await Promise.all([
      showList(sources, runPageList, {
        path: `/runs/${run_id}`,
        query: request.query,
        limit: PAGE,
        fixed: { run_id },
      }),
      run.outcome === 'suspect' ? showWithdrawals(options, operatorOf(request), run) : null,
    ]);
    return sendPage(reply, {
      title: `Run of ${run.application_id}`,
      at: '/runs',
      body: html`${reasonNotice(run)}${counters(run)}
<div class="columns">${course(run)}${listing(run)}</div>
${withdrawals}${pages.body({ linkTo, title: 'Pages, latest first', label: 'Pages of the run' })}`,
      parent: ['Runs', '/runs'],
      lead: html`${badge(run.outcome ?? 'open')} ${ago(run.finished_at ?? run.started_at)}`,
      actions: html`<a class="button" href="/applications/${run.application_id}">Application</a>`,
    });
  });

  addWithdrawals(app, options);
};
