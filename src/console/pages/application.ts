/** The page of one application. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { EventItem } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import type { FailureGroup } from '#db/queries/failure-list.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { barChart, outcomeSeries } from '#src/console/charts.ts';
import { linkTo } from '#src/console/links.ts';
import { settingsSection } from '#src/console/pages/application-settings.ts';
import { whyCell } from '#src/console/pages/runs.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { AUDIT_STATUSES, type AuditStatus, withoutAdvice } from '#src/contract/words.ts';
import { conditionOf } from '#src/lists/applications.ts';
import { deliveryList } from '#src/lists/events.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { runList } from '#src/lists/runs.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { checkSection } from '#src/site/check-report.ts';
import { addressForms } from '#src/site/event-address.ts';
import { addressFacts, EVENT_CELLS, EVENT_COLUMNS } from '#src/site/event-cells.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { foldRuns, outcomeCell } from '#src/site/folded-runs.ts';
import {
  action,
  ago,
  badge,
  clock,
  copyable,
  due,
  facts,
  formatDuration,
  html,
  link,
  number,
  type SafeHtml,
  section,
  stat,
} from '#src/site/html.ts';
import type { Page } from '#src/site/layout.ts';
import { listTable } from '#src/site/list-table.ts';

const RECENT_RUNS = 5;

/** One bar a run, as high as the rows that it listed. */
const runChart = (runs: readonly RunRow[]): SafeHtml => {
  const ended = runs.filter((run) => run.outcome !== null).toReversed();
  if (ended.length === 0) return html`<div class="empty"><p>No run has ended yet.</p></div>`;
  // At least 1, so that a run that listed nothing is visible too.
  const series = outcomeSeries((outcome) =>
    ended.map((run) => (run.outcome === outcome ? Math.max(1, run.listed) : 0)),
  );
  const labels = ended.map((run) => `${run.started_at.toISOString().slice(5, 16).replace('T', ' ')} UTC`);
  return barChart(
    'Games listed by each run',
    labels,
    series,
    ended.length === 1 ? '1 run' : `${ended.length} runs`,
  );
};

/** Describes the state. Each time ends a line, so that nothing moves when it grows. */
const describeState = (row: ApplicationRow, runs: readonly RunRow[]): SafeHtml | string => {
  if (row.status === 'paused') return spellKinds(row.pause_reason ?? 'An operator paused it.');
  if (row.failing_since === null) {
    const ended = runs.find(({ outcome }) => outcome !== null);
    if (ended === undefined) return 'No run of it has ended.';
    if (ended.outcome === 'succeeded') return 'Its last run succeeded.';
    const why = ended.reason === null ? '.' : `: ${spellKinds(withoutAdvice(ended.reason))}.`;
    return html`The outcome of its last run is <a href="/runs/${ended.run_id}">${ended.outcome}</a>${why}`;
  }
  const failed = row.failed_runs === 1 ? 'Its last run' : `Its last ${row.failed_runs} runs`;
  const last = runs.find(({ outcome, reason }) => outcome === 'failed' && reason !== null);
  const why =
    last === undefined
      ? null
      : html` <a href="/runs/${last.run_id}">The last one</a>: ${spellKinds(last.reason ?? '')}.`;
  return html`${failed} failed.${why}<br>First failure ${ago(row.failing_since)}<br>
Next attempt ${due(nextRunAt(row))}`;
};

const EVENT_WORDS = { delivered: 'delivered', pending: 'wait', failed: 'failed', none: 'not sent' } as const;

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
  /** The hold and the verdict on its developer. */
  standing: SafeHtml;
};

/** Counts the latest events by state: delivered, waiting, failed, not sent. */
const describeEvents = (events: readonly EventItem[]): string =>
  (['delivered', 'pending', 'failed', null] as const)
    .map(
      (state) =>
        [events.filter((event) => event.state === state).length, EVENT_WORDS[state ?? 'none']] as const,
    )
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');

const eventSection = (
  { application, webhook, events, mayManage }: ApplicationView,
  retry: SafeHtml,
): SafeHtml => {
  const { application_id: id } = application;
  const none = html`They are pulled only: it has no address.`;
  const change = mayManage ? addressForms(`/applications/${encodeURIComponent(id)}/events`, webhook) : null;
  const isTroubled = webhook !== undefined && (webhook.status === 'off' || webhook.failing_since !== null);
  const shown = (rows: readonly EventItem[], label: string): SafeHtml =>
    listTable(deliveryList, rows, {
      linkTo,
      only: EVENT_COLUMNS,
      cells: EVENT_CELLS,
      empty: 'No status of its games has changed yet.',
      label,
      stacked: 'lines',
    });
  const latest =
    events.length === 0
      ? shown([], 'Latest events')
      : html`<details class="unchanged"><summary>The latest ${number(events.length)}: ${describeEvents(events)}</summary>
${shown(events, 'Latest events')}</details>`;
  return section('Events', html`${addressFacts(webhook, none)}${change}${latest}`, {
    id: 'events',
    ...(mayManage && isTroubled && { aside: retry }),
  });
};

const figures = ({ application, games, nextTick }: ApplicationView): SafeHtml => {
  const { application_id, status, every_ms } = application;
  const byStatus = AUDIT_STATUSES.map((each) =>
    stat(each, number(games[each]), { url: link('/games', { application: application_id, status: each }) }),
  );
  const tick = nextTick === null ? '–' : formatDuration(nextTick.getTime() - Date.now());
  const note = status === 'paused' ? 'paused' : `every ${formatDuration(every_ms)}`;
  return html`<div class="stats">${byStatus}${stat('Next run', tick, { note })}</div>`;
};

const stateBadge = ({ application, runs }: ApplicationView): SafeHtml => {
  const last = runs.find(({ outcome }) => outcome !== null && outcome !== 'abandoned');
  const suspect_run = last?.outcome === 'suspect' ? last.run_id : null;
  return badge(conditionOf({ ...application, suspect_run }));
};

/** The parts below the first screen. */
const PARTS = [
  ['runs', 'Runs'],
  ['failures', 'Failures'],
  ['events', 'Events'],
  ['checks', 'Checks'],
  ['settings', 'Settings'],
] as const;

const JUMPS = html`<nav class="jumps" aria-label="Parts of this page">${PARTS.map(
  ([id, label]) => html`<a href="#${id}">${label}</a>`,
)}</nav>`;

const health = ({ application, runs, addressesProblem: problem }: ApplicationView): SafeHtml => {
  const known: [string, SafeHtml | string | null][] = [
    ['State', describeState(application, runs)],
    ['Last success', ago(application.last_success_at)],
    ['Note of its last run', runs.find(({ outcome }) => outcome !== null)?.note ?? null],
    ['Addresses', problem === null ? null : html`${badge('end early', 'warn')} ${problem}.`],
    ['Added', clock(application.created_at)],
    ['Changed', clock(application.updated_at)],
  ];
  return section('Health', facts(known.filter(([, value]) => value !== null)));
};

/** A link to every row of a list of this application. */
const all = (path: string, label: string, application: string): SafeHtml =>
  html`<a href="${link(path, { application })}">${label}</a>`;

export const applicationPage = (view: ApplicationView): Page => {
  const { application, runs, failures, check, mayManage } = view;
  const { application_id: id } = application;
  const here = `/applications/${encodeURIComponent(id)}`;
  const act = (label: string, name: string, kind = ''): SafeHtml =>
    action(here, label, { fields: { act: name }, kind });
  const pause = application.status === 'paused' ? act('Resume', 'resume') : act('Pause', 'pause');
  const { rows, folded } = foldRuns(runs);
  const latestRuns = listTable(runList, rows.slice(0, RECENT_RUNS), {
    linkTo,
    omit: ['application_id'],
    cells: { outcome: outcomeCell(folded), why: whyCell },
    empty: 'It has not run yet.',
    label: 'Latest runs',
    stacked: 'lines',
  });
  const problems = listTable(failureGroupList, failures, {
    linkTo,
    only: ['reasons', 'extent', 'example', 'games', 'last'],
    cells: { reasons: explainFailure },
    label: 'Failures',
    stacked: 'lines',
  });
  const body = html`${JUMPS}${figures(view)}
<div class="columns thirds">${health(view)}
${section('Runs', runChart(runs), { aside: all('/runs', 'All runs', id) })}
${view.standing}</div>
${section('Latest runs', latestRuns, { id: 'runs' })}
${section('Failures', problems, { id: 'failures', aside: all('/failures', 'All failures', id) })}
${eventSection(view, act('Send what was not delivered', 'retry_events'))}
${checkSection(check, { title: 'Checks', here, mayRun: mayManage, namesOperators: true })}
${settingsSection(application, mayManage)}`;
  return {
    title: application.name,
    at: '/applications',
    parent: ['Applications', '/applications'],
    lead: html`${stateBadge(view)} ${copyable(id)}`,
    actions: mayManage
      ? html`${act('Sync now', 'sync', 'primary')}${act('Sync in full', 'sync_full')}${pause}`
      : undefined,
    body,
  };
};
