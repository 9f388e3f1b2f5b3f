/** `/portal/runs` and `/portal/checks`. */

import type { FastifyInstance } from 'fastify';
import type { CheckRow } from '#db/queries/application-checks.ts';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import type { FailureItem } from '#db/queries/failure-list.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { findSuspectEnd } from '#db/queries/vanishing-games.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { checkList } from '#src/lists/checks.ts';
import { failureList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { operate } from '#src/operations/operate.ts';
import { banner, emptyCard, linkButton, READ_BUTTON, withSecond } from '#src/portal/answer.ts';
import { gameUrl, linkTo } from '#src/portal/links.ts';
import { countBroken } from '#src/portal/problems.ts';
import {
  describeFirstRun,
  describeNextRead,
  describeUnread,
  FIRST_RUN,
  isAllRight,
  isListRead,
  pausedBanner,
  resumeStep,
  showWhy,
  whyCell,
} from '#src/portal/schedule.ts';
import { callerOfHolder, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { suspectProblem } from '#src/portal/suspect.ts';
import { answerPoll, isListWaiting, waitingBanner } from '#src/portal/waiting.ts';
import { rowsOf } from '#src/rules/listing.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { redirectWith } from '#src/site/answers.ts';
import { checkSection, explainCheck } from '#src/site/check-report.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { ago, due, facts, html, mono, number, type SafeHtml, section, type Tone } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { listTable } from '#src/site/list-table.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { foldQuietRuns, outcomeCell } from '#src/site/quiet-runs.ts';
import { isPolling } from '#src/site/site.ts';
import { sourcesOf } from '#src/site/sources.ts';

const HERE = '/portal/runs';
const RUNS_SHOWN = 20;
const FAILURES_SHOWN = 100;
/** Of the games that failed for one cause. */
const GAMES_NAMED = 3;
// biome-ignore format: one line
const RUN_COLUMNS = ['ago', 'outcome', 'listed', 'inserted', 'updated', 'unchanged', 'invalid', 'failed', 'withdrawn', 'games', 'why'];
/** Columns that say something only if one of their numbers is not 0. */
const COUNTED = ['updated', 'unchanged', 'invalid', 'failed', 'withdrawn'] as const;
const RUN_WIDTHS = { updated: 'wider', withdrawn: 'wider' } as const;

/** The counts stand beside it. */
const COUNTS_SAID = /^\d+ invalid, \d+ failed$/;
const whyBesideCounts = (run: RunRow): string | null =>
  whyCell(run)
    ?.split('; ')
    .filter((part) => !COUNTS_SAID.test(part))
    .join('; ') || null;

const whyShown = (run: RunRow): SafeHtml | null => {
  const why = whyBesideCounts(run);
  return why === null ? null : showWhy(why);
};

/** What stands in place of failures. Null before a run has read the list. @param run the last one */
const noFailures = (application: ApplicationRow | undefined, run: RunRow | undefined): SafeHtml | null => {
  if (isListRead(application, run))
    return banner('No open failures', 'Every game that was pulled is stored.', 'good', null);
  const firstRun = describeFirstRun(application, run);
  return firstRun && banner(FIRST_RUN, firstRun, 'info', null);
};

/** What the checks will call. */
const describeChecks = (
  application: ApplicationRow,
): SafeHtml => html`<p class="body">Each webhook is called with valid and
with invalid requests. A rule that does not hold is shown with what was expected and what was received. Only the report is
stored.</p>${facts([
  ['query_game_list', mono(application.query_game_list_webhook)],
  ['query_game_detail', mono(application.query_game_detail_webhook)],
  ['query_cp_kyc', mono(application.query_cp_kyc_webhook)],
])}`;

/** What a report says, first of all. */
const titleOf = (check: CheckRow | undefined): { title: string; tone?: Tone } => {
  if (check === undefined) return { title: 'Your webhooks have not been checked yet' };
  if (check.finished_at === null) return { title: 'Running the checks', tone: 'info' };
  if (check.error !== null) return { title: 'The last check has no report', tone: 'warn' };
  if (check.failed === 0) return { title: 'Every rule that was checked holds', tone: 'good' };
  return { title: countBroken(check.failed), tone: 'bad' };
};

/** Groups failures of one cause, by the latest of them. */
const groupByCause = (failures: readonly FailureItem[]): Map<FailureItem, FailureItem[]> => {
  const causes = Map.groupBy(failures, ({ operation, kind, reasons }) =>
    JSON.stringify([operation, kind, reasons]),
  );
  return new Map([...causes.values()].flatMap((each) => (each[0] === undefined ? [] : [[each[0], each]])));
};

const gameLink = ({ application_game_id: id }: FailureItem): SafeHtml =>
  html`<a class="mono" href="${gameUrl(id)}">${id}</a>`;

const withCommas = (names: readonly SafeHtml[]): SafeHtml[] =>
  names.map((name, n) => html`${n === 0 ? null : ', '}${name}`);

/** Shows some names, and folds the others. */
const nameSome = (names: readonly SafeHtml[]): SafeHtml => {
  const [named, others] = [names.slice(0, GAMES_NAMED), names.slice(GAMES_NAMED)];
  const more = html`<details><summary>and ${number(others.length)} more</summary><span>${withCommas(others)}</span></details>`;
  return html`<span>${withCommas(named)}</span>${others.length === 0 ? null : more}`;
};

/** Names the games of one cause, or the rows of the list that name none. */
const gamesCell = (failures: readonly FailureItem[]): SafeHtml | null => {
  const games = failures.filter(({ application_game_id }) => application_game_id !== NO_GAME);
  if (games.length > 0) return nameSome(games.map(gameLink));
  const rows = failures.flatMap(({ reasons }) => rowsOf(reasons));
  return rows.length === 0 ? null : html`${rows.length === 1 ? 'row' : 'rows'} ${nameSome(rows.map(mono))}`;
};

/** Adds `/portal/runs` and `/portal/checks`. */
export const addPortalReports = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const sources = sourcesOf(options);
  portal.get(HERE, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [application, suspect, failures, [last], [lastCheck], runs] = await Promise.all([
      findApplication(options.sql, application_id),
      findSuspectEnd(options.sql, application_id),
      readFirst(failureList, sources, { application_id, source: 'calls' }, FAILURES_SHOWN),
      readFirst(runList, sources, { application_id }, 1),
      readFirst(checkList, sources, { application_id }, 1),
      showList(sources, runList, {
        path: HERE,
        query: request.query,
        limit: RUNS_SHOWN,
        fixed: { application_id },
      }),
    ]);
    const causes = groupByCause(failures);
    const timesOf = (failure: FailureItem): number =>
      (causes.get(failure) ?? []).reduce((sum, { count }) => sum + count, 0);
    const timesNote = (failure: FailureItem): SafeHtml => {
      const times = timesOf(failure);
      return html`<br class="to-640"><small class="to-640">${number(times)} ${times === 1 ? 'time' : 'times'},
last ${ago(failure.last_at)}</small>`;
    };
    const latest = listTable(failureList, [...causes.keys()], {
      linkTo,
      only: ['reasons', 'game', 'count', 'last'],
      cells: {
        reasons: (failure) => html`${explainFailure(failure)}${timesNote(failure)}`,
        game: (failure) => gamesCell(causes.get(failure) ?? []),
        count: (failure) => number(timesOf(failure)),
      },
      label: 'Failures',
    });
    const isCut = failures.length === FAILURES_SHOWN;
    const title = failures.length === 1 ? '1 failure to fix' : `${number(failures.length)} failures to fix`;
    const unread = describeUnread(application, last);
    const check = linkButton({ url: '/portal/checks', act: 'Check your webhooks' }, ' primary');
    const aside = unread === null ? check : undefined;
    const resume = resumeStep(lastCheck, last, options.contact);
    const pausedAct = resume.url === HERE ? null : linkButton(resume, ' primary');
    const act = application?.status === 'paused' ? pausedAct : withSecond(check, unread?.also);
    const doubt = suspectProblem(suspect, application?.status === 'paused', options.contact).map(
      ({ title, body, tone, also, ...way }) =>
        banner(title, body, tone, way.url === HERE ? (also ?? null) : withSecond(linkButton(way), also)),
    );
    const failed =
      failures.length > 0
        ? section(isCut ? `The latest ${title}` : title, latest, { tone: 'warn', aside })
        : noFailures(application, last);
    const isReading =
      application?.status === 'active' && (await isListWaiting(options.sql, application_id, last));
    if (isPolling(request)) return answerPoll(reply, isReading);
    const reading = isReading ? waitingBanner('list', HERE) : null;
    const nextRead = describeNextRead(application);
    const steps = nextRead && html`${failures.length === 0 ? check : null}${READ_BUTTON}`;
    const next = unread === null && last !== undefined ? nextRunAt(application) : null;
    const { rows: shown, folded } = foldQuietRuns(runs.rows);
    const runTable = runs.body({
      linkTo,
      shown,
      only: RUN_COLUMNS,
      widths: RUN_WIDTHS,
      omit: [
        ...COUNTED.filter((key) => shown.every((run) => run[key] === 0)),
        ...(shown.every((run) => whyBesideCounts(run) === null) ? ['why'] : []),
      ],
      cells: { why: whyShown, outcome: outcomeCell(folded) },
      stacked: 'lines',
    });
    const isNew = runs.rows.length === 0 && Object.keys(runs.typed).length === 0;
    const isSaid = (isNew || unread !== null || suspect !== undefined) && failures.length === 0;
    return sendPortal(reply, {
      title: 'Failures and runs',
      at: HERE,
      body: html`${reading}${unread && banner(unread.title, unread.said, 'bad', act)}${doubt}${isSaid ? null : failed}
${isNew ? (reading === null ? emptyCard('There has been no run yet', nextRead, steps) : null) : html`<h2 class="sub">Runs</h2>${runs.filters}${runTable}`}`,
      lead: html`A run reads your list and the details that changed. A failure is closed when its game is stored, or when
your list no longer has the row.
${next && html`<br>Next run ${due(next)}`}`,
    });
  });

  portal.get('/portal/checks', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [[check], application] = await Promise.all([
      readFirst(checkList, sources, { application_id }, 1),
      findApplication(options.sql, application_id),
    ]);
    // A reload updates the count of the menu too.
    if (isPolling(request)) return answerPoll(reply, check?.finished_at === null);
    return sendPortal(reply, {
      title: 'Checks',
      at: '/portal/checks',
      body: html`${pausedBanner(application, options.contact, 'You can still run the checks.')}${checkSection(
        check,
        {
          ...titleOf(check),
          here: '/portal/checks',
          mayRun: true,
          namesOperators: false,
          kind: isAllRight(check) ? '' : 'primary',
          ...(application && { never: describeChecks(application) }),
        },
      )}`,
      lead: 'The checks call your three webhooks and compare each answer with the interface document, which you have from the operators.',
    });
  });

  portal.post('/portal/checks', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const caller = callerOfHolder(request);
    const { opened } = await operate(requestCheck, { application_id }, caller, platformOf(options));
    return redirectWith(reply, '/portal/checks', explainCheck(opened), opened ? 'good' : 'bad');
  });
};
