/** `/applications` and `/applications/:id`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readAddressLifetimeMs } from '#db/queries/addresses.ts';
import type { ApplicationItem } from '#db/queries/application-list.ts';
import { findApplication } from '#db/queries/applications.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { countGamesOf } from '#db/queries/game-counts.ts';
import { linkTo } from '#src/console/links.ts';
import { applicationPage } from '#src/console/pages/application.ts';
import { standingSection } from '#src/console/pages/application-standing.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { hasRight } from '#src/contract/roles.ts';
import { readNextTick } from '#src/ingest/schedules.ts';
import { applicationList, explainCondition } from '#src/lists/applications.ts';
import { checkList } from '#src/lists/checks.ts';
import { deliveryList } from '#src/lists/events.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import { pauseApplication, resumeApplication } from '#src/operations/applications.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { retryEvents } from '#src/operations/events.ts';
import { startManualRun } from '#src/operations/runs.ts';
import { readStanding } from '#src/review/standing.ts';
import { explainShortAddresses } from '#src/rules/address-lifetime.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendError, sendPage } from '#src/site/answers.ts';
import { explainCheck } from '#src/site/check-report.ts';
import { html, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, optionalText } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;
const OFFERED = 20;
const RUNS_SHOWN = 40;
const FAILURES_SHOWN = 10;
const EVENTS_SHOWN = 10;
const ACTS = ['sync', 'sync_full', 'pause', 'resume', 'check', 'retry_events'] as const;

export const HOW_TO_ADD = html`An access token is sealed where the keys are, so applications are added on the command line:
<code>npx catalogue app add --help</code>`;

const conditionCell = (row: ApplicationItem): SafeHtml =>
  html`<span dir="auto">${spellKinds(explainCondition(row))}</span>`;

type Params = ById<'application_id'>;

/** Adds `/applications` and `/applications/:id`. */
export const addApplications = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, producer } = options;
  const sources = sourcesOf(options);

  app.get('/applications', { config: { right: applicationList.right } }, async (request, reply) => {
    const view = { path: '/applications', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sources, applicationList, view);
    const applications = body({
      linkTo,
      cells: { reason: conditionCell },
      empty: 'There is no application yet.',
      hint: HOW_TO_ADD,
      stacked: 'lines',
    });
    return sendPage(reply, {
      title: 'Applications',
      at: '/applications',
      body: html`${filters}${applications}`,
    });
  });

  // What a box for an application offers (site/browser/elements/application-box.ts).
  app.get('/application-names', { config: { right: applicationList.right } }, async (request) => {
    const { q: search } = z.object({ q: optionalText }).parse(request.query);
    const found = await readFirst(applicationList, sources, { search }, OFFERED);
    return found.map(({ application_id, name }) => ({ application_id, name }));
  });

  app.get<Params>('/applications/:application_id', { config: { right: 'view' } }, async (request, reply) => {
    const { application_id } = request.params;
    const application = await findApplication(sql, application_id);
    if (application === undefined) {
      const message = 'There is no application with this id, or it was removed.';
      return sendError(reply, 404, 'No such application', message);
    }
    const [runs, failures, games, nextTick, webhook, events, checks, lastMs, standing] = await Promise.all([
      readFirst(runList, sources, { application_id }, RUNS_SHOWN),
      readFirst(failureGroupList, sources, { application_id }, FAILURES_SHOWN),
      countGamesOf(sql, application_id),
      application.status === 'active' ? readNextTick(producer, application_id) : null,
      findEventWebhook(sql, application_id),
      readFirst(deliveryList, sources, { application_id }, EVENTS_SHOWN),
      readFirst(checkList, sources, { application_id }, 1),
      readAddressLifetimeMs(sql, application_id),
      readStanding(sql, application_id),
    ]);
    const mayHold = hasRight(operatorOf(request).roles, 'hold_applications');
    const here = `/applications/${application_id}`;
    const mayManage = hasRight(operatorOf(request).roles, 'manage_applications');
    return sendPage(
      reply,
      applicationPage({
        addressesProblem: explainShortAddresses(lastMs, application.every_ms),
        application,
        runs,
        failures,
        games,
        nextTick,
        webhook,
        events,
        check: checks[0],
        mayManage,
        standing: standingSection(here, standing, mayHold),
      }),
    );
  });

  app.post<Params>(
    '/applications/:application_id',
    { config: { right: 'manage_applications' } },
    async (request, reply) => {
      const { application_id } = request.params;
      const { act } = z.object({ act: z.enum(ACTS) }).parse(request.body);
      const here = `/applications/${encodeURIComponent(application_id)}`;
      return redirectOnRefusal(reply, here, async () => {
        switch (act) {
          case 'pause':
          case 'resume': {
            const operation = act === 'pause' ? pauseApplication : resumeApplication;
            const { status } = await operateFor(request, options, operation, { application_id });
            return redirectWith(reply, here, `${application_id} is ${status}.`);
          }
          case 'retry_events': {
            const retried = await operateFor(request, options, retryEvents, { application_id });
            const on = retried.switched_on ? 'The address is switched on. ' : '';
            return redirectWith(reply, `${here}#events`, `${on}Events to be sent again: ${retried.events}.`);
          }
          case 'check': {
            const { opened } = await operateFor(request, options, requestCheck, { application_id });
            return redirectWith(reply, `${here}#checks`, explainCheck(opened), opened ? 'good' : 'bad');
          }
          default: {
            const wanted = { application_id, full: act === 'sync_full' };
            const { run, opened } = await operateFor(request, options, startManualRun, wanted);
            const text = opened ? 'A run has started.' : 'A run of this application is already open.';
            return redirectWith(reply, `/runs/${run.run_id}`, text, opened ? 'good' : 'bad');
          }
        }
      });
    },
  );
};
