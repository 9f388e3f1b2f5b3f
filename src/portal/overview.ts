/** `/portal`, `/portal/runs`, `/portal/events` and `/portal/checks`. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listChecks } from '#db/queries/application-checks.ts';
import { findApplication } from '#db/queries/applications.ts';
import { countGamesOf, groupFailures, listRunItems } from '#db/queries/console.ts';
import { listApplicationEvents } from '#db/queries/event-list.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import { listPortalFailures } from '#db/queries/portal.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { operate } from '#src/operations/operate.ts';
import { findForm, gameUrl } from '#src/portal/games.ts';
import { callerOfHolder, holderOf, sendPortal } from '#src/portal/session.ts';
import { withoutAdvice } from '#src/rules/answer.ts';
import { redirectWith } from '#src/site/answers.ts';
import { checkSection, explainCheck } from '#src/site/check-report.ts';
import { addressBadge, describeAddress, eventColumns } from '#src/site/event-tables.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  ago,
  badge,
  type Column,
  due,
  facts,
  html,
  link,
  number,
  pager,
  type SafeHtml,
  section,
  tableSection,
} from '#src/site/html.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalId } from '#src/site/query.ts';

const RUNS_SHOWN = 20;
const FAILURES_SHOWN = 100;
const GROUPS_SHOWN = 5;
const EVENTS_SHOWN = 50;
const signedIn = { config: { right: 'application' } } as const;

const RUN_COLUMNS: Column<RunRow>[] = [
  { head: 'Started', cell: (run) => ago(run.started_at) },
  { head: 'Outcome', cell: (run) => badge(run.outcome ?? 'open') },
  { head: 'Listed', numeric: true, cell: (run) => number(run.listed) },
  { head: 'New', minWidth: 640, numeric: true, cell: (run) => number(run.inserted) },
  { head: 'Changed', minWidth: 640, numeric: true, cell: (run) => number(run.updated) },
  { head: 'Invalid', numeric: true, cell: (run) => number(run.invalid) },
  { head: 'Failed', minWidth: 640, numeric: true, cell: (run) => number(run.failed) },
  { head: 'Withdrawn', minWidth: 900, numeric: true, cell: (run) => number(run.withdrawn) },
  { head: 'Why', minWidth: 900, cell: (run) => withoutAdvice(run.reason ?? '') },
];

const FAILURE_COLUMNS: Column<FailureRow>[] = [
  {
    head: 'Game',
    cell: ({ application_game_id: id }) =>
      id === ''
        ? html`<span class="soft">no single game</span>`
        : html`<a class="mono" href="${gameUrl(id)}">${id}</a>`,
  },
  { head: 'What to fix', cell: explainFailure },
  { head: 'Times', minWidth: 640, numeric: true, cell: (row) => number(row.count) },
  { head: 'Last', minWidth: 640, cell: (row) => ago(row.last_at) },
];

/** Adds `/portal`, `/portal/runs`, `/portal/events` and `/portal/checks`. */
export const addPortalOverview = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  portal.get('/portal', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [application, games, groups, runs, webhook] = await Promise.all([
      findApplication(sql, application_id),
      countGamesOf(sql, application_id),
      groupFailures(sql, { application_id, limit: GROUPS_SHOWN }),
      listRunItems(sql, { application_id, limit: 1 }),
      findEventWebhook(sql, application_id),
    ]);
    const [run] = runs;
    const isPaused = application?.status === 'paused';
    const state = isPaused
      ? `Paused: ${application.pause_reason ?? 'the platform has paused it'}. Its webhooks are not called.`
      : application?.failing_since != null
        ? html`Its runs fail. The first failure was ${ago(application.failing_since)}; the next run is ${due(application.next_attempt_at)}.`
        : 'Its games are pulled on schedule.';
    const body = html`${findForm()}
<div class="stats thirds">${AUDIT_STATUSES.map((status) => html`<a class="stat" href="${link('/portal/games', { status })}"><span>${status}</span><strong>${number(games[status])}</strong></a>`)}</div>
${section(
  'State',
  facts([
    ['Application', html`${badge(isPaused ? 'paused' : 'active')} ${state}`],
    [
      'Last run',
      run === undefined
        ? 'There was none yet.'
        : html`<a href="/portal/runs">${badge(run.outcome ?? 'open')}</a> ${ago(run.started_at)}`,
    ],
    [
      'Events',
      webhook === undefined
        ? html`They are not sent: fetch them by event/list, or ask the platform to send them to a URL of yours.`
        : html`${addressBadge(webhook)} ${describeAddress(webhook)}`,
    ],
  ]),
)}
${tableSection(
  'What to fix',
  groups,
  [
    { head: 'What is wrong', cell: explainFailure },
    {
      head: 'For example',
      cell: ({ example }) =>
        example === '' ? '–' : html`<a class="mono" href="${gameUrl(example)}">${example}</a>`,
    },
    { head: 'Games', numeric: true, cell: (row) => number(row.games) },
  ],
  {
    empty: 'Nothing: every game that you list was stored.',
    aside: html`<a href="/portal/runs">Runs and failures</a>`,
  },
)}`;
    return sendPortal(reply, {
      title: 'Overview',
      at: '/portal',
      body,
      lead: 'Where your games are, and why.',
    });
  });

  portal.get('/portal/runs', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [runs, failures] = await Promise.all([
      listRunItems(sql, { application_id, limit: RUNS_SHOWN }),
      listPortalFailures(sql, application_id, FAILURES_SHOWN),
    ]);
    const body = html`${tableSection('Failures', failures, FAILURE_COLUMNS, {
      empty: 'No open failures.',
      aside: html`<span class="soft">the latest ${FAILURES_SHOWN}</span>`,
    })}
${tableSection('Runs', runs, RUN_COLUMNS, { empty: 'There was no run yet.' })}`;
    return sendPortal(reply, {
      title: 'Runs and failures',
      at: '/portal/runs',
      body,
      lead: 'A run reads your list and the details of new and changed games. A failure disappears when its game is stored.',
    });
  });

  portal.get('/portal/events', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { before } = z.object({ before: optionalId }).parse(request.query);
    const [events, webhook] = await Promise.all([
      listApplicationEvents(sql, application_id, { before, limit: EVENTS_SHOWN + 1 }),
      findEventWebhook(sql, application_id),
    ]);
    const next = events.length > EVENTS_SHOWN ? events[EVENTS_SHOWN - 1]?.event_id : undefined;
    const where: SafeHtml =
      webhook === undefined
        ? html`<p class="body soft">No address is set, so events are not sent: fetch them by event/list.</p>`
        : facts([
            ['Address', html`<span class="mono">${webhook.url}</span> ${addressBadge(webhook)}`],
            ['State', describeAddress(webhook)],
          ]);
    const body = html`${section('Address', where)}
${tableSection(
  'Events',
  events.slice(0, EVENTS_SHOWN),
  eventColumns(({ data }) => gameUrl(data.application_game_id)),
  { empty: 'No status of your games has changed yet.', stacked: true },
)}
${pager([
  ['First', before === undefined ? null : '/portal/events'],
  ['Next', next === undefined ? null : link('/portal/events', { before: next })],
])}`;
    return sendPortal(reply, {
      title: 'Events',
      at: '/portal/events',
      body,
      lead: 'Every change of the status of a game, kept for 90 days.',
    });
  });

  portal.get('/portal/checks', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [check] = await listChecks(sql, application_id, 1);
    return sendPortal(reply, {
      title: 'Checks',
      at: '/portal/checks',
      body: checkSection(check, { here: '/portal/checks', mayRun: true, namesOperators: false }),
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
