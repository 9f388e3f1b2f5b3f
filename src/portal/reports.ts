/** `/portal/runs` and `/portal/checks`. */

import type { FastifyInstance } from 'fastify';
import type { RunRow } from '#db/queries/runs.ts';
import { withoutAdvice } from '#src/contract/words.ts';
import { checkList } from '#src/lists/checks.ts';
import { failureList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList, whyOf } from '#src/lists/runs.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { operate } from '#src/operations/operate.ts';
import { linkTo } from '#src/portal/links.ts';
import { callerOfHolder, holderOf, sendPortal } from '#src/portal/session.ts';
import { redirectWith } from '#src/site/answers.ts';
import { checkSection, explainCheck } from '#src/site/check-report.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { html, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { listTable } from '#src/site/list-table.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const RUNS_SHOWN = 20;
const FAILURES_SHOWN = 100;
const signedIn = { config: { right: 'application' } } as const;

/** Explains why a run ended as it did, without the advice for operators. */
export const whyCell = (run: RunRow): string | null => {
  const why = whyOf(run);
  return why === null ? null : withoutAdvice(why);
};

// biome-ignore format: one line
const RUN_COLUMNS = ['ago', 'outcome', 'listed', 'inserted', 'updated', 'invalid', 'failed', 'withdrawn', 'why'];

/** Adds `/portal/runs` and `/portal/checks`. */
export const addPortalReports = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const sources = sourcesOf(options);
  portal.get('/portal/runs', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [failures, runs] = await Promise.all([
      readFirst(failureList, sources, { application_id, source: 'calls' }, FAILURES_SHOWN),
      showList(sources, runList, {
        path: '/portal/runs',
        query: request.query,
        limit: RUNS_SHOWN,
        fixed: { application_id },
      }),
    ]);
    const latest = listTable(failureList, failures, {
      linkTo,
      only: ['game', 'reasons', 'count', 'last'],
      cells: { reasons: explainFailure },
      label: 'Failures',
    });
    const isCut = failures.length === FAILURES_SHOWN;
    const aside = isCut ? html`<span class="soft">the latest ${FAILURES_SHOWN}</span>` : undefined;
    const shown = runs.body({
      linkTo,
      only: RUN_COLUMNS,
      cells: { why: whyCell },
      empty: 'There was no run yet.',
      stacked: 'lines',
    });
    return sendPortal(reply, {
      title: 'Failures and runs',
      at: '/portal/runs',
      body: html`${section('Failures', latest, { aside })}${runs.filters}${shown}`,
      lead: 'A run reads your list and the details of new and changed games. A failure disappears when its game is stored.',
    });
  });

  portal.get('/portal/checks', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [check] = await readFirst(checkList, sources, { application_id }, 1);
    return sendPortal(reply, {
      title: 'Checks',
      at: '/portal/checks',
      body: checkSection(check, {
        title: 'Last report',
        here: '/portal/checks',
        mayRun: true,
        namesOperators: false,
      }),
      lead: 'The checks call your three webhooks and compare each answer with the interface document. Only this report is stored.',
    });
  });

  portal.post('/portal/checks', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const caller = callerOfHolder(request);
    const { opened } = await operate(requestCheck, { application_id }, caller, platformOf(options));
    return redirectWith(reply, '/portal/checks', explainCheck(opened), opened ? 'good' : 'bad');
  });
};
