/** `/`: what needs a person now, and the last 24 hours. */

import type { FastifyInstance } from 'fastify';
import pTimeout from 'p-timeout';
import { type ApprovalRow, listWithdrawalRequests } from '#db/queries/approvals.ts';
import { groupFailures, type HourRow, listTrouble, readDecisionHours } from '#db/queries/console.ts';
import { type EventWebhook, listTroubledEventWebhooks } from '#db/queries/event-webhooks.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import { barChart, outcomeSeries } from '#src/console/charts.ts';
import { describeDelay, readPictureDelay } from '#src/console/picture-delay.ts';
import { createRunHours } from '#src/console/run-hours.ts';
import type { Producer } from '#src/queue/producer.ts';
import { summariseLanes } from '#src/review/lanes.ts';
import { sendPage } from '#src/site/answers.ts';
import { addressBadge, describeAddress } from '#src/site/event-tables.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  ago,
  applicationLink,
  badge,
  formatAge,
  html,
  link,
  number,
  type SafeHtml,
  section,
  table,
  tableSection,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { requestBadge } from '#src/site/requests.ts';

const TROUBLE_SHOWN = 8;
const FAILURES_SHOWN = 6;
const REQUESTS_MAX = 500;
const QUEUES_WAIT_MS = 2_000;

type QueueState = { name: string; waiting: number; active: number; failed: number; paused: boolean };

/** The state of each queue; null if the queues do not answer in time. */
const readQueues = (producer: Producer): Promise<QueueState[] | null> => {
  const read = Promise.all(
    producer.queues().map(async (queue): Promise<QueueState> => {
      const [counts, paused] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'failed'),
        queue.isPaused(),
      ]);
      const { waiting = 0, prioritized = 0, delayed = 0, active = 0, failed = 0 } = counts;
      return { name: queue.name, waiting: waiting + prioritized + delayed, active, failed, paused };
    }),
  );
  return pTimeout(read, { milliseconds: QUEUES_WAIT_MS }).catch(() => null);
};

const stat = (label: string, value: number, url: string, note: string, tone = ''): SafeHtml =>
  html`<a class="stat ${tone}" href="${url}"><span>${label}</span><strong>${number(value)}</strong><span>${note}</span></a>`;

const waitNote = (oldest: Date | null): string =>
  oldest === null ? 'nothing waits' : `oldest ${formatAge(Date.now() - oldest.getTime())}`;

const charts = (hours: readonly HourRow[], decided: readonly { passed: number; rejected: number }[]) => {
  const labels = hours.map(({ hour }) => `${hour.toISOString().slice(11, 16)} UTC`);
  const values = <Row, Field extends keyof Row>(rows: readonly Row[], field: Field) =>
    rows.map((row) => row[field]);
  const sum = (all: readonly number[]): string => number(all.reduce((total, each) => total + each, 0));
  const landed = values(hours, 'landed');
  const passed = values(decided, 'passed');
  const rejected = values(decided, 'rejected');
  return html`<div class="columns">
${section('Games landed', barChart('New games an hour, last 24 hours', labels, [{ name: 'new games', tone: 'accent', values: landed }], sum(landed)))}
${section(
  'Decisions',
  barChart(
    'Decisions an hour, last 24 hours',
    labels,
    [
      { name: 'passed', tone: 'good', values: passed },
      { name: 'rejected', tone: 'bad', values: rejected },
    ],
    sum([...passed, ...rejected]),
  ),
)}
${section(
  'Runs',
  barChart(
    'Runs by outcome an hour, last 24 hours',
    labels,
    outcomeSeries((outcome) => values(hours, outcome)),
  ),
)}</div>`;
};

const requestSection = (requests: readonly ApprovalRow[]): SafeHtml =>
  tableSection(
    'Waiting for a second person',
    requests,
    [
      {
        head: 'Withdrawals',
        cell: (row) => html`<a href="/runs/${row.subject.slice('run:'.length)}">${row.version}</a>`,
      },
      { head: 'State', cell: requestBadge },
      { head: 'Asked by', cell: (row) => html`${row.asked_by}, ${ago(row.asked_at)}` },
      { head: 'Reason', minWidth: 640, cell: (row) => row.reason },
    ],
    { empty: '' },
  );

const webhookSection = (webhooks: readonly EventWebhook[]): SafeHtml =>
  tableSection(
    'Events that do not arrive',
    webhooks,
    [
      {
        head: 'Application',
        fit: 'words',
        cell: (row) => html`<a href="/applications/${row.application_id}#events">${row.application_id}</a>`,
      },
      { head: 'Address', cell: addressBadge },
      { head: 'Why', cell: describeAddress },
    ],
    { empty: '' },
  );

/** Adds `/`. */
export const addHome = (app: FastifyInstance, { sql, producer }: ConsoleOptions): void => {
  const readHours = createRunHours(sql);
  // Reads the hours before the first view. If the database is down, that view reports it.
  app.addHook('onListen', async () => void readHours().catch(() => {}));
  app.get('/', { config: { right: 'view' } }, async (_request, reply) => {
    const [lanes, listed, requests, failures, workers, queues, delay, hours, decided, webhooks] =
      await Promise.all([
        summariseLanes(sql),
        listTrouble(sql, TROUBLE_SHOWN + 1),
        listWithdrawalRequests(sql, REQUESTS_MAX),
        groupFailures(sql, { limit: FAILURES_SHOWN }),
        listLiveWorkers(sql),
        readQueues(producer),
        readPictureDelay(producer),
        readHours(),
        readDecisionHours(sql),
        listTroubledEventWebhooks(sql, TROUBLE_SHOWN),
      ]);
    // A run that waits for a second person is listed there, not here.
    const asked = new Set(requests.map(({ subject }) => subject));
    const trouble = listed
      .map((row) => (asked.has(`run:${row.suspect_run}`) ? { ...row, suspect_run: null } : row))
      .filter((row) => row.suspect_run !== null || row.status === 'paused' || row.failing_since !== null);
    const more = listed.length > TROUBLE_SHOWN;
    const body = html`<div id="now" hx-get="/" hx-trigger="every 30s" hx-select="#now" hx-target="#now" hx-swap="outerHTML">
<div class="stats">
${stat('New games to review', lanes.new.games, '/review?lane=new', waitNote(lanes.new.oldest))}
${stat('Changed games to review', lanes.changed.games, '/review?lane=changed', waitNote(lanes.changed.oldest))}
${stat('Applications in trouble', trouble.length, '/applications?status=failing', more ? 'and more' : 'paused, failing or suspect', trouble.length > 0 ? 'warn' : '')}
${stat('Workers', workers.length, '/queues', workers.length === 0 ? 'start one: npx catalogue worker' : 'with a heartbeat', workers.length === 0 ? 'bad' : '')}
</div>
${delay === null || delay.cause === 'queue_unreachable' ? null : html`<p class="notice warn">${describeDelay(delay)}</p>`}
<div class="columns tables">
${tableSection(
  'Applications in trouble',
  trouble.slice(0, TROUBLE_SHOWN),
  [
    { head: 'Application', cell: (row) => applicationLink(row.application_id, row.name) },
    {
      head: 'State',
      cell: (row) =>
        row.suspect_run !== null
          ? html`<a href="/runs/${row.suspect_run}">${badge('suspect')}</a>`
          : badge(row.status === 'paused' ? 'paused' : 'failing', 'warn'),
    },
    {
      head: 'Since',
      cell: (row) => (row.failing_since === null ? row.pause_reason : ago(row.failing_since)),
    },
  ],
  { empty: 'Every application is well.' },
)}
${tableSection(
  'Failures by reason',
  failures,
  [
    {
      head: 'Application',
      fit: 'words',
      cell: (row) =>
        html`<a href="${link('/failures', { application: row.application_id })}">${row.application_id}</a>`,
    },
    { head: 'What is wrong', cell: explainFailure },
    { head: 'Games', numeric: true, cell: (row) => number(row.games) },
  ],
  { empty: 'No open failures.' },
)}
</div>
${requests.length === 0 ? null : requestSection(requests)}
${webhooks.length === 0 ? null : webhookSection(webhooks)}
${section(
  'Queues',
  queues === null
    ? html`<div class="empty"><p>The queues do not answer. Workers wait and go on when they do.</p></div>`
    : table(
        queues,
        [
          {
            head: 'Queue',
            fit: 'words',
            cell: (row) => html`<a href="/queues/queue/${row.name}">${row.name}</a>`,
          },
          { head: 'State', cell: (row) => (row.paused ? badge('paused') : badge('running', 'plain')) },
          { head: 'Waiting', numeric: true, cell: (row) => number(row.waiting) },
          { head: 'Active', minWidth: 640, numeric: true, cell: (row) => number(row.active) },
          { head: 'Failed', numeric: true, cell: (row) => number(row.failed) },
        ],
        { empty: 'There is no queue.', label: 'Queues' },
      ),
)}
</div>
<h2 class="sub">Last 24 hours</h2>
${charts(hours, decided)}`;
    return sendPage(reply, { title: 'Overview', at: '/', body, lead: 'What needs a person now.' });
  });
};
