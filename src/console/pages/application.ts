/** The page of one application. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { FailureGroup } from '#db/queries/console.ts';
import type { EventItem } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { barChart, outcomeSeries } from '#src/console/charts.ts';
import { PROBLEM_COLUMNS } from '#src/console/pages/failures.ts';
import { RUN_COLUMNS } from '#src/console/pages/runs.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { checkSection } from '#src/site/check-report.ts';
import { addressBadge, describeAddress, eventColumns } from '#src/site/event-tables.ts';
import {
  action,
  ago,
  badge,
  clock,
  due,
  facts,
  formatAge,
  html,
  link,
  mono,
  number,
  type SafeHtml,
  section,
  table,
  tableSection,
} from '#src/site/html.ts';
import type { Page } from '#src/site/layout.ts';

const RECENT_RUNS = 8;

/** One bar a run, as high as the rows that it listed. */
const runChart = (runs: readonly RunRow[]): SafeHtml => {
  const ended = runs.filter((run) => run.outcome !== null).toReversed();
  if (ended.length === 0) return html`<div class="empty"><p>No run has ended yet.</p></div>`;
  // A run that listed nothing is visible too.
  const series = outcomeSeries((outcome) =>
    ended.map((run) => (run.outcome === outcome ? Math.max(1, run.listed) : 0)),
  );
  const labels = ended.map((run) => `${run.started_at.toISOString().slice(5, 16).replace('T', ' ')} UTC`);
  return barChart('Games listed by each run', labels, series, `${ended.length} runs`);
};

/** The state in one sentence. */
const describeState = (row: ApplicationRow, runs: readonly RunRow[]): SafeHtml | string => {
  if (row.status === 'paused') return row.pause_reason ?? 'An operator paused it.';
  if (row.failing_since === null) {
    const ended = runs.find(({ outcome }) => outcome !== null);
    if (ended === undefined) return 'No run of it has ended.';
    if (ended.outcome === 'succeeded') return 'Its last run succeeded.';
    return html`Its last run is <a href="/runs/${ended.run_id}">${ended.outcome}</a>.`;
  }
  return html`${row.failed_runs === 1 ? 'Its last run' : `Its last ${row.failed_runs} runs`} failed, the first ${ago(row.failing_since)}. The next attempt is ${due(row.next_attempt_at)}.`;
};

export type ApplicationView = {
  application: ApplicationRow;
  runs: readonly RunRow[];
  failures: readonly FailureGroup[];
  games: Record<AuditStatus, number>;
  nextTick: Date | null;
  /** Where its events are sent; undefined: nowhere. */
  webhook: EventWebhook | undefined;
  /** The latest ones. */
  events: readonly EventItem[];
  check: CheckRow | undefined;
  /** Why its addresses do not last; null if they do. */
  addressesProblem: string | null;
  mayManage: boolean;
};

const eventSection = (
  { application, webhook, events, mayManage }: ApplicationView,
  retry: SafeHtml,
): SafeHtml => {
  const { application_id: id } = application;
  const where =
    webhook === undefined
      ? html`<p class="body soft">They are pulled only: it has no address. Set one: <code>npx catalogue app update ${id} --events-webhook URL</code></p>`
      : facts([
          ['Address', html`${mono(webhook.url)} ${addressBadge(webhook)}`],
          ['State', describeAddress(webhook)],
        ]);
  const isTroubled = webhook !== undefined && (webhook.status === 'off' || webhook.failing_since !== null);
  return section(
    'Events',
    html`${where}${table(
      events,
      eventColumns(({ game_id }) => `/games/${game_id}`),
      {
        empty: 'No status of its games has changed yet.',
        label: 'Latest events',
        stacked: true,
      },
    )}`,
    { id: 'events', ...(mayManage && isTroubled && { aside: retry }) },
  );
};

export const applicationPage = (view: ApplicationView): Page => {
  const { application, runs, failures, games, nextTick, check, mayManage, addressesProblem } = view;
  const { application_id: id } = application;
  const here = `/applications/${encodeURIComponent(id)}`;
  const act = (label: string, name: string, kind = ''): SafeHtml =>
    action(here, label, { fields: { act: name }, kind });
  const isPaused = application.status === 'paused';
  const actions = html`${act('Sync now', 'sync', 'primary')}${act('Sync in full', 'sync_full')}${isPaused ? act('Resume', 'resume') : act('Pause', 'pause')}`;
  const body = html`
<div class="stats">${AUDIT_STATUSES.map((status) => html`<a class="stat" href="${link('/games', { application: id, status })}"><span>${status}</span><strong>${number(games[status])}</strong></a>`)}
<div class="stat"><span>Next tick</span><strong>${nextTick === null ? '–' : formatAge(nextTick.getTime() - Date.now())}</strong><span>${isPaused ? 'paused' : `every ${formatAge(application.every_ms)}`}</span></div></div>
<div class="columns">
${section(
  'Health',
  facts([
    [
      'State',
      html`${application.failing_since !== null && !isPaused ? badge('failing', 'warn') : badge(application.status)} ${describeState(application, runs)}`,
    ],
    ['Last success', ago(application.last_success_at)],
    ['Note of its last run', runs.find(({ outcome }) => outcome !== null)?.note ?? null],
    [
      'Addresses',
      addressesProblem === null ? null : html`${badge('end early', 'warn')} ${addressesProblem}.`,
    ],
    ['Added', clock(application.created_at)],
    ['Changed', clock(application.updated_at)],
  ]),
)}
${section('Runs', runChart(runs), { aside: html`<a href="${link('/runs', { application: id })}">All runs</a>` })}
</div>
${tableSection(
  'Latest runs',
  runs.slice(0, RECENT_RUNS),
  RUN_COLUMNS.filter(({ head }) => head !== 'Application'),
  { empty: 'It has not run yet.' },
)}
${tableSection(
  'Failures',
  failures,
  [...PROBLEM_COLUMNS, { head: 'Last', minWidth: 640, cell: (row) => ago(row.last_at) }],
  {
    empty: 'No open failures.',
    aside: html`<a href="${link('/failures', { application: id })}">All failures</a>`,
  },
)}
${eventSection(view, act('Send what was not delivered', 'retry_events'))}
${checkSection(check, { here, mayRun: mayManage, namesOperators: true })}
${section(
  'Settings',
  facts([
    ['query_game_list', mono(application.query_game_list_webhook)],
    ['query_game_detail', mono(application.query_game_detail_webhook)],
    ['query_cp_kyc', mono(application.query_cp_kyc_webhook)],
    ['Games every', formatAge(application.every_ms)],
    ['KYC every', formatAge(application.kyc_every_ms)],
    ['Details at most', `${formatAge(application.detail_max_age_ms)} old`],
    ['Concurrency', application.concurrency],
    ['Rate', `${number(application.rate)} calls a second`],
    ['Volatile parameters', mono(application.volatile_parameters.join(', ') || 'none')],
    ['Change them', html`<code>npx catalogue app update ${id} …</code>`],
  ]),
)}`;
  return {
    title: application.name,
    at: '/applications',
    parent: ['Applications', '/applications'],
    lead: mono(id),
    actions: mayManage ? actions : undefined,
    body,
  };
};
