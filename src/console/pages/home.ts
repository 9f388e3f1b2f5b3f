/** `/`: what needs a person now, and the last 24 hours. */

import type { FastifyInstance } from 'fastify';
import { countAppeals } from '#db/queries/appeals.ts';
import type { ApplicationItem } from '#db/queries/application-list.ts';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { readDecisionHours } from '#db/queries/decisions.ts';
import type { AddressItem } from '#db/queries/event-webhooks.ts';
import type { FailureGroup } from '#db/queries/failure-list.ts';
import { countDueGames } from '#db/queries/lane-counts.ts';
import type { SignedIn } from '#db/queries/sign-in.ts';
import { countLiveWorkers } from '#db/queries/workers.ts';
import { linkTo } from '#src/console/links.ts';
import { HOW_TO_ADD } from '#src/console/pages/applications.ts';
import { charts } from '#src/console/pages/home-charts.ts';
import { NO_WORKER, queueSummary, readQueues } from '#src/console/pages/queues.ts';
import { delayNotice, readPictureDelay } from '#src/console/picture-delay.ts';
import { createRunHours } from '#src/console/run-hours.ts';
import { APPROVAL_RIGHTS } from '#src/contract/approvals.ts';
import { hasRight } from '#src/contract/roles.ts';
import { LANES } from '#src/contract/words.ts';
import { applicationList, explainTrouble } from '#src/lists/applications.ts';
import { describeRequest, runRequestList } from '#src/lists/approvals.ts';
import { eventAddressList, subscriptionList } from '#src/lists/events.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { unverifiedList } from '#src/lists/kyc.ts';
import { readFirst } from '#src/lists/read.ts';
import { appealList } from '#src/lists/threads.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { type LaneSummary, summariseLanes } from '#src/review/lanes.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import { describeAddress } from '#src/site/event-cells.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  ago,
  formatDuration,
  html,
  link,
  mono,
  number,
  type SafeHtml,
  section,
  stat,
} from '#src/site/html.ts';
import { listSection, listTable } from '#src/site/list-table.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { requestCard } from '#src/site/requests.ts';
import { sourcesOf } from '#src/site/sources.ts';

const IN_TROUBLE = '/applications?status=trouble&sort=failing_since';
const TROUBLE_SHOWN = 8;
const FAILURES_SHOWN = 6;
const REQUESTS_MAX = 500;

/** `due`: when the first game is due. */
type Waiting = { games: number; due: Date | null; overdue: number };

/** Shows how many games of a lane wait, and how many are due or when the first one is. */
const laneStat = (label: string, url: string, { games, due, overdue }: Waiting): SafeHtml => {
  const first = due === null ? 'nothing waits' : `first due in ${formatDuration(due.getTime() - Date.now())}`;
  const note = overdue > 0 ? `${number(overdue)} due` : first;
  return stat(label, number(games), { url, note, tone: overdue > 0 ? 'warn' : '' });
};

/** A link that opens the game that is due first in both lanes. */
const startButton = (lanes: LaneSummary, { roles }: SignedIn): SafeHtml | undefined => {
  const [first] = LANES.flatMap((lane) => {
    const { due } = lanes[lane];
    return due === null ? [] : [{ lane, due: due.getTime() }];
  }).toSorted((one, other) => one.due - other.due);
  return first === undefined || !hasRight(roles, 'decide')
    ? undefined
    : html`<a class="button primary" href="${link('/review/next', { lane: first.lane })}">Start reviewing</a>`;
};

/** Why, in full, with a link to the run that is suspect. */
const troubleCell = (row: ApplicationItem): SafeHtml => {
  const { suspect_run, failing_since } = row;
  const why = explainTrouble(row);
  const linked = suspect_run === null ? why : html`<a href="/runs/${suspect_run}">${why}</a>`;
  const since = failing_since && html`<br><small>${ago(failing_since)}</small>`;
  return html`<span dir="auto">${linked}</span>${since}`;
};

/** @param isFirstDay whether there is no application yet */
const troubleSection = (applications: readonly ApplicationItem[], isFirstDay: boolean): SafeHtml =>
  section(
    'Applications in trouble',
    listTable(applicationList, applications, {
      linkTo,
      only: ['application_id', 'status', 'trouble'],
      cells: { trouble: troubleCell },
      empty: isFirstDay ? 'There is no application yet.' : 'No application is in trouble.',
      label: 'Applications in trouble',
      stacked: 'lines',
    }),
  );

/** An application by its name, with its id below. @param url the page of its problem */
const named = (url: string, name: string, application_id: string): SafeHtml =>
  html`<a href="${url}" dir="auto">${name}</a><br><small>${mono(application_id)}</small>`;

/** @param isFirstDay whether there is no application yet */
const failureSection = (failures: readonly FailureGroup[], isFirstDay: boolean): SafeHtml =>
  section(
    'Failures by reason',
    listTable(failureGroupList, failures, {
      linkTo,
      only: ['application_id', 'reasons', 'extent', 'games'],
      cells: {
        application_id: ({ application_id: application, application_name }) =>
          named(link('/failures', { application }), application_name, application),
        reasons: explainFailure,
      },
      ...(isFirstDay && { empty: 'Nothing was read yet.' }),
      label: 'Failures by reason',
      stacked: 'lines',
    }),
  );

/** Shows the requests that make operators reviewers, to those who may approve them. */
const newReviewers = (requests: readonly ApprovalRow[], { login, roles }: SignedIn): SafeHtml | null => {
  const mayApprove = hasRight(roles, APPROVAL_RIGHTS.reviewer.approve);
  if (requests.length === 0 || !mayApprove) return null;
  const use = html`<a href="/operators">Do it on the page of the operators.</a>`;
  const cards = requests.map((row) =>
    requestCard(row, { login, mayApprove, what: describeRequest(row), use }),
  );
  return section('New reviewers', html`${cards}`);
};

const toEvents = ({ application_id, application_name }: AddressItem): SafeHtml =>
  named(`/applications/${application_id}#events`, application_name, application_id);

/** Adds `/`. */
export const addHome = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, producer } = options;
  const sources = sourcesOf(options);
  const readHours = createRunHours(sql);
  // Reads the hours before the first view. If the database is down, that view reports it.
  app.addHook('onListen', async () => void readHours().catch(() => {}));
  app.get('/', { config: { right: 'view' } }, async (request, reply) => {
    const [
      lanes,
      { open },
      [appeal],
      overdue,
      listed,
      requests,
      reviewers,
      failures,
      workers,
      queues,
      delay,
      hours,
      decided,
      addresses,
      streams,
      unverified,
      applications,
    ] = await Promise.all([
      summariseLanes(sql),
      countAppeals(sql),
      readFirst(appealList, sources, {}, 1, 'due'),
      countDueGames(sql),
      readFirst(applicationList, sources, { status: 'trouble' }, TROUBLE_SHOWN + 1, 'failing_since'),
      readFirst(runRequestList, sources, {}, REQUESTS_MAX),
      refreshOpenRequests(sql, ['reviewer']),
      readFirst(failureGroupList, sources, {}, FAILURES_SHOWN),
      countLiveWorkers(sql),
      readQueues(sources),
      readPictureDelay(producer),
      readHours(),
      readDecisionHours(sql),
      readFirst(eventAddressList, sources, { status: 'trouble' }, TROUBLE_SHOWN, 'failing_since'),
      readFirst(subscriptionList, sources, { status: 'trouble' }, TROUBLE_SHOWN, 'failing_since'),
      readFirst(unverifiedList, sources, {}, TROUBLE_SHOWN),
      readFirst(applicationList, sources, {}, 1),
    ]);
    // A run that waits for a second person is listed there, not here.
    const requested = new Set(requests.map(({ subject }) => subject));
    const trouble = listed
      .map((row) =>
        requested.has(`run:${row.suspect_run}`) ? { ...row, suspect_run: null, suspect_reason: null } : row,
      )
      .filter((row) => row.suspect_run !== null || row.status === 'paused' || row.failing_since !== null);
    const noun = trouble.length === 1 ? 'application' : 'applications';
    const more = listed.length > TROUBLE_SHOWN ? 'applications, and more' : noun;
    const tone = trouble.length > 0 ? 'warn' : '';
    const isFirstDay = applications.length === 0;
    const first = isFirstDay
      ? section('Add the first application', html`<p class="body">${HOW_TO_ADD}</p>`)
      : null;
    const body = html`<div id="now" hx-get="/" hx-trigger="every 30s" hx-select="#now" hx-target="#now"
 hx-swap="outerHTML">
${workers === 0 ? NO_WORKER : null}${first}
<div class="stats">
${laneStat('New games', '/review?lane=new', { ...lanes.new, overdue: overdue.new })}
${laneStat('Changed games', '/review?lane=changed', { ...lanes.changed, overdue: overdue.changed })}
${laneStat('Appeals to decide', '/review/appeals', { games: open, due: appeal?.due ?? null, overdue: overdue.appeals })}
${stat('In trouble', number(trouble.length), { url: IN_TROUBLE, note: more, tone })}
</div>
${delay?.cause === 'queue_unreadable' ? null : delayNotice(delay)}
<div class="columns tables">${troubleSection(trouble.slice(0, TROUBLE_SHOWN), isFirstDay)}${failureSection(failures, isFirstDay)}</div>
${listSection('Live without a verdict on the developer', unverifiedList, unverified, { linkTo })}
${listSection('Waiting for a second person', runRequestList, requests, { linkTo })}
${listSection('Events that do not arrive', eventAddressList, addresses, {
  linkTo,
  only: ['application_id', 'status', 'why'],
  cells: { application_id: toEvents, why: describeAddress },
  stacked: 'lines',
})}
${listSection('Subscriptions of the stream that do not arrive', subscriptionList, streams, {
  linkTo,
  only: ['url', 'status', 'why', 'waiting'],
  stacked: 'lines',
})}
${queueSummary(queues, workers)}
</div>
${newReviewers(reviewers, operatorOf(request))}
<h2 class="sub">Last 24 hours</h2>
${charts(hours, decided)}`;
    return sendPage(reply, {
      title: 'Overview',
      at: '/',
      body,
      lead: 'What needs a person now.',
      actions: startButton(lanes, operatorOf(request)),
    });
  });
};
