/** The report of `app check`, for the operator and for the application's developer. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import { PREFIXES } from '#src/check/case.ts';
import { DETAILS_MAX } from '#src/check/cases/queries.ts';
import type { CaseResult } from '#src/check/check-application.ts';
import { OPERATIONS } from '#src/contract/words.ts';
import {
  action,
  ago,
  badge,
  html,
  mono,
  nothing,
  type SafeHtml,
  section,
  type Tone,
} from '#src/site/html.ts';
import { type TableColumn, table } from '#src/site/table.ts';

const TONES: Record<CaseResult['outcome'], string> = { passed: 'good', failed: 'bad', skipped: 'plain' };

const callDetails = (sent: string, came = ''): SafeHtml =>
  html`<details><summary>The call</summary>
<p><small>Sent</small><br><span class="mono">${sent}</span></p>
<p><small>Received</small><br><span class="mono">${came}</span></p></details>`;

/** The webhook that a case calls; none for a case of several that has no request to show. */
const webhookOf = ({ name, sent }: CaseResult): SafeHtml | null => {
  const webhook = OPERATIONS.find(
    (each) => name.startsWith(`${PREFIXES[each]}.`) || sent?.startsWith(`POST ${each} `),
  );
  return webhook === undefined ? null : mono(webhook);
};

/** A rule; of one that does not hold, its webhook, what was expected and what came. */
const ruleCell = (result: CaseResult): SafeHtml => {
  const { name, rule, outcome, problem, sent, came, note, section: number } = result;
  if (problem === undefined)
    return html`${rule}${note === undefined ? null : html`<br><span class="soft">${note}</span>`}`;
  const [label, shown] =
    outcome === 'skipped'
      ? ['Skipped', html`<span>${problem}</span>`]
      : ['Received', html`<strong>${problem}</strong>`];
  const webhook = webhookOf(result);
  return html`<div class="pair-of">${webhook && html`<small>Webhook</small><span>${webhook}</span>`}
<small>Expected</small><span>${rule}</span>
<small>${label}</small>${shown}${
    number &&
    html`<small class="to-640">Section</small>
<span class="to-640">${number}</span>`
  }<small class="to-900">Case</small>
<span class="to-900">${mono(name)}</span></div>
${sent === undefined ? null : callDetails(sent, came)}`;
};

/** Rules of a card; the report has all. */
const RULES_SHOWN = 3;

/** The items of a list of the first rules that did not hold, with what came. */
export const firstBrokenRules = ({ cases }: CheckRow): SafeHtml[] =>
  (cases as CaseResult[])
    .filter(({ outcome }) => outcome === 'failed')
    .slice(0, RULES_SHOWN)
    .map((each) => {
      const webhook = webhookOf(each);
      return html`<li>${webhook && html`${webhook}<br>`}
Expected: ${each.rule}<br>Received: <strong>${each.problem}</strong></li>`;
    });

/** Folds rules that need nothing from the reader. @param said of their number, from two on and of one */
const foldRules = (cases: readonly CaseResult[], [many, one]: readonly [string, string]): SafeHtml | null =>
  cases.length === 0
    ? null
    : html`<details class="unchanged"><summary>${cases.length === 1 ? one : `${cases.length} ${many}`}</summary>
${table(cases, COLUMNS, { empty: '', label: many })}</details>`;

const report = (check: CheckRow, namesOperators: boolean): SafeHtml => {
  if (check.error !== null)
    return nothing(html`The check of ${ago(check.requested_at)} has no report: ${check.error}`);
  const { passed, failed, skipped, finished_at, requested_by } = check;
  const by = namesOperators ? `, requested by ${requested_by}` : '';
  const of = (outcome: CaseResult['outcome']) =>
    (check.cases as CaseResult[]).filter((each) => each.outcome === outcome);
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  const broken = table(of('failed'), COLUMNS, {
    empty: 'Nothing to correct.',
    label: 'Results of the checks',
  });
  return html`<p class="body soft">Checked ${ago(finished_at)}${by}: ${counts}.
Of a long list, ${DETAILS_MAX} details are read.</p>${broken}
${foldRules(of('skipped'), ['rules were skipped', '1 rule was skipped'])}
${foldRules(of('passed'), ['rules hold', '1 rule holds'])}`;
};

const COLUMNS: TableColumn<CaseResult>[] = [
  { head: 'Result', fit: 'short', cell: ({ outcome }) => badge(outcome, TONES[outcome]) },
  { head: 'Rule', cell: ruleCell },
  {
    head: 'Section',
    fit: 'short',
    minWidth: 640,
    cell: ({ section: number }) => number ?? html`<span class="soft">platform</span>`,
  },
  { head: 'Case', fit: 'short', minWidth: 900, cell: ({ name }) => mono(name) },
];

const NEVER_CHECKED = nothing(
  'The webhooks were not checked here yet. The checks call each one and compare its answers with the interface document.',
);

/** Shows a check that runs. The page fetches this section again. */
const running = (here: string, { requested_at }: CheckRow): SafeHtml =>
  html`<div class="empty" hx-get="${here}" hx-trigger="every 3s" hx-select="#checks" hx-target="#checks"
 hx-swap="outerHTML"><p>The checks began ${ago(requested_at)}. They take up to a few minutes.</p></div>`;

type CheckView = {
  title: string;
  here: string;
  mayRun: boolean;
  namesOperators: boolean;
  kind?: string;
  tone?: Tone;
  never?: SafeHtml;
};

/**
 * The section of the checks. While one runs, the page fetches it again.
 * @param here the address of the page
 * @param mayRun shows the button, which posts `act=check` to `here`
 * @param namesOperators shows who requested the checks: for the console alone
 * @param kind of the button @param tone of the section
 * @param never shown before the first check
 */
export const checkSection = (
  check: CheckRow | undefined,
  { title, here, mayRun, namesOperators, kind = '', tone, never = NEVER_CHECKED }: CheckView,
): SafeHtml => {
  const isRunning = check !== undefined && check.finished_at === null;
  const label = check === undefined ? 'Run the checks' : 'Run the checks again';
  const button = mayRun && !isRunning ? action(here, label, { fields: { act: 'check' }, kind }) : undefined;
  const showCheck = (row: CheckRow): SafeHtml =>
    isRunning ? running(here, row) : report(row, namesOperators);
  return section(title, check === undefined ? never : showCheck(check), {
    id: 'checks',
    tone,
    ...(button !== undefined && { aside: button }),
  });
};

/** Explains whether the requested checks run now. */
export const explainCheck = (opened: boolean): string =>
  opened ? 'The checks have begun.' : 'Not started: the checks are running, or began less than a minute ago.';
