/** `/portal/runs`. */
import type { FastifyInstance } from 'fastify';
import type { RunRow } from '#db/queries/runs.ts';
import { findSuspectEnd } from '#db/queries/vanishing-games.ts';
import { checkList } from '#src/lists/checks.ts';
import { failureList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import {
  banner,
  CHECKS,
  emptyCard,
  linkButton,
  READ_BUTTON,
  readButton,
  withSecond,
} from '#src/portal/answer.ts';
import { FAILURES_SHOWN, failuresCard } from '#src/portal/failures.ts';
import { linkTo } from '#src/portal/links.ts';
import { problemBanner } from '#src/portal/problems.ts';
import { answerPoll, type Reading, readingBanner, readReading } from '#src/portal/reading.ts';
import { describeNextRead, RUN_WORDS, RUNNING_BADGE, showWhy, whyCell } from '#src/portal/schedule.ts';
import { holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { suspectProblem } from '#src/portal/suspect.ts';
import { isListRead, unreadProblem } from '#src/portal/unread.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { foldRuns, outcomeCell } from '#src/site/folded-runs.ts';
import { due, html, type SafeHtml } from '#src/site/html.ts';
import { type ShownList, showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { isPolling } from '#src/site/site.ts';
import { sourcesOf } from '#src/site/sources.ts';

const HERE = '/portal/runs';
const RUNS_SHOWN = 20;
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

/** What stands in place of failures. Null before a run has read the list. */
const noFailures = (reading: Reading): SafeHtml | null =>
  isListRead(reading)
    ? banner(
        'No open failures',
        'Every game that was read is stored.',
        'good',
        reading.mayRead ? READ_BUTTON : null,
      )
    : null;

const CHECK = linkButton(CHECKS, ' primary');
const READ_AND_CHECK = withSecond(readButton('primary'), linkButton(CHECKS));

/** Shows runs; those in a row that ended alike are folded. */
const runsTable = ({ rows, filters, body }: ShownList<RunRow, object>): SafeHtml => {
  const { rows: shown, folded } = foldRuns(rows);
  const table = body({
    linkTo,
    shown,
    only: RUN_COLUMNS,
    widths: RUN_WIDTHS,
    omit: [
      ...COUNTED.filter((key) => shown.every((run) => run[key] === 0)),
      ...(shown.every((run) => whyBesideCounts(run) === null) ? ['why'] : []),
    ],
    cells: { why: whyShown, outcome: outcomeCell(folded, RUNNING_BADGE) },
    stacked: 'lines',
  });
  return html`<h2 class="sub">Runs</h2>${filters}${table}`;
};

/** Adds `/portal/runs`. */
export const addPortalRuns = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, contact } = options;
  const sources = sourcesOf(options);
  portal.get(HERE, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [reading, suspect, failures, [check], runs] = await Promise.all([
      readReading(sources, application_id),
      findSuspectEnd(sql, application_id),
      readFirst(failureList, sources, { application_id, source: 'calls' }, FAILURES_SHOWN),
      readFirst(checkList, sources, { application_id }, 1),
      showList(sources, runList, {
        path: HERE,
        query: request.query,
        limit: RUNS_SHOWN,
        fixed: { application_id },
        words: RUN_WORDS,
      }),
    ]);
    const { application, last, isReading } = reading;
    if (isPolling(request)) return answerPoll(reply, isReading);
    const unread = unreadProblem(reading, check, contact);
    const trouble = [...unread, ...suspectProblem(suspect, reading, contact)].map(problemBanner);
    const isNew = runs.rows.length === 0 && Object.keys(runs.typed).length === 0;
    const nothingFailed = isNew || trouble.length > 0 ? null : noFailures(reading);
    // The cards of trouble, and of no run yet, have the button that reads the list.
    const isCalm = trouble.length === 0 && !isNew && !isReading;
    const readAgain = isCalm ? READ_AND_CHECK : linkButton(CHECKS, isReading ? '' : ' primary');
    const steps = unread.length === 0 ? readAgain : null;
    const failed = failures.length > 0 ? failuresCard(failures, steps, reading) : nothingFailed;
    const nextRead = describeNextRead(application);
    const firstSteps = nextRead && html`${failures.length === 0 ? CHECK : null}${READ_BUTTON}`;
    const noRun = isReading ? null : emptyCard('There has been no run yet', nextRead, firstSteps);
    const next = unread.length === 0 && last !== undefined && !isReading ? nextRunAt(application) : null;
    return sendPortal(reply, {
      title: 'Failures and runs',
      at: HERE,
      body: html`${readingBanner(reading, HERE)}${trouble}${failed}${isNew ? noRun : runsTable(runs)}`,
      lead: html`A run reads your list and the details that changed. A failure is closed when its game is stored, or when
your list no longer has the row.
${next && html`<br>Next run ${due(next)}`}`,
    });
  });
};
