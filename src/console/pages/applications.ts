/** `/applications` and `/applications/:id`. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readAddressLifetimeMs } from '#db/queries/addresses.ts';
import { listChecks } from '#db/queries/application-checks.ts';
import { findApplication } from '#db/queries/applications.ts';
import {
  type ApplicationItem,
  countGamesOf,
  groupFailures,
  listApplicationItems,
  listRunItems,
} from '#db/queries/console.ts';
import { listApplicationEvents } from '#db/queries/event-list.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { applicationPage } from '#src/console/pages/application.ts';
import { hasRight } from '#src/contract/roles.ts';
import { readNextTick } from '#src/ingest/schedules.ts';
import { pauseApplication, resumeApplication } from '#src/operations/applications.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { retryEvents } from '#src/operations/events.ts';
import { startManualRun } from '#src/operations/runs.ts';
import { explainShortAddresses } from '#src/rules/address-lifetime.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendError, sendPage } from '#src/site/answers.ts';
import { explainCheck } from '#src/site/check-report.ts';
import {
  ago,
  badge,
  type Column,
  FILTERS,
  formatAge,
  html,
  link,
  number,
  pager,
  select,
  tableSection,
} from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, optionalText, optionalWord } from '#src/site/query.ts';

const PAGE = 100;
const RUNS_SHOWN = 40;
const FAILURES_SHOWN = 10;
const EVENTS_SHOWN = 10;
const ACTS = ['sync', 'sync_full', 'pause', 'resume', 'check', 'retry_events'] as const;
const STATUSES = ['active', 'paused', 'failing'] as const;

const query = z.object({ q: optionalText, status: optionalWord(STATUSES), after: optionalText });

const COLUMNS: Column<ApplicationItem>[] = [
  {
    head: 'Application',
    fit: 'names',
    cell: (row) =>
      html`<a href="/applications/${row.application_id}">${row.name}</a><br><small class="mono">${row.application_id}</small>`,
  },
  {
    head: 'State',
    cell: (row) =>
      row.status === 'active' && row.failing_since !== null ? badge('failing', 'warn') : badge(row.status),
  },
  {
    head: 'Last run',
    cell: (row) => (row.running ? badge('open') : row.last_outcome === null ? '–' : badge(row.last_outcome)),
  },
  { head: 'Last success', minWidth: 640, cell: (row) => ago(row.last_success_at) },
  { head: 'Every', minWidth: 900, numeric: true, cell: (row) => formatAge(row.every_ms) },
  { head: 'Games', numeric: true, cell: (row) => number(row.games) },
  { head: 'Why', minWidth: 1200, cell: (row) => row.pause_reason ?? '' },
];

type Params = ById<'application_id'>;

/** Adds `/applications` and `/applications/:id`. */
export const addApplications = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, producer } = options;
  app.get('/applications', { config: { right: 'view' } }, async (request, reply) => {
    const { q, status, after } = query.parse(request.query);
    const items = await listApplicationItems(sql, { text: q, status, after, limit: PAGE });
    const filters = { q, status };
    const body = html`<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Name or id</span><input type="search" name="q" value="${q ?? ''}"></label>
${select('status', 'State', [['', 'every state'], ...STATUSES.map((each) => [each, each] as const)], status ?? '')}
<button class="button">Filter</button></form>
${tableSection('Applications', items, COLUMNS, {
  empty: html`${q === undefined && status === undefined ? 'There is no application yet.' : 'No application matches.'} An access token is sealed where the keys are, so applications are added on the command line: <code>npx catalogue app add --help</code>`,
})}
${pager([
  ['First', after === undefined ? null : link('/applications', filters)],
  [
    'Next',
    items.length === PAGE ? link('/applications', { ...filters, after: items.at(-1)?.application_id }) : null,
  ],
])}`;
    return sendPage(reply, { title: 'Applications', at: '/applications', body });
  });

  app.get<Params>('/applications/:application_id', { config: { right: 'view' } }, async (request, reply) => {
    const { application_id } = request.params;
    const application = await findApplication(sql, application_id);
    if (application === undefined) {
      const message = 'There is no application with this id, or it was removed.';
      return sendError(reply, 404, 'No such application', message);
    }
    const [runs, failures, games, nextTick, webhook, events, checks, lastMs] = await Promise.all([
      listRunItems(sql, { application_id, limit: RUNS_SHOWN }),
      groupFailures(sql, { application_id, limit: FAILURES_SHOWN }),
      countGamesOf(sql, application_id),
      application.status === 'active' ? readNextTick(producer, application_id) : null,
      findEventWebhook(sql, application_id),
      listApplicationEvents(sql, application_id, { limit: EVENTS_SHOWN }),
      listChecks(sql, application_id, 1),
      readAddressLifetimeMs(sql, application_id),
    ]);
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
      return redirectOnRefusal(reply, '/applications', async () => {
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
