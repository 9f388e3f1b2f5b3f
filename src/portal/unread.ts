/** Why the platform does not read the games of an application: it is paused, or its runs fail. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { namesUnanswered, spellKinds } from '#src/contract/failure-words.ts';
import { spellWait } from '#src/lib/duration.ts';
import { banner, CHECKS, linkButton, READ_BUTTON, type Step, writeStep } from '#src/portal/answer.ts';
import type { Problem } from '#src/portal/problems.ts';
import type { Reading } from '#src/portal/reading.ts';
import { showWhy, whyCell } from '#src/portal/schedule.ts';
import { endSentence } from '#src/rules/answer.ts';
import { LAST_WITH, PAUSE_AFTER_MS, PAUSE_AFTER_RUNS } from '#src/rules/backoff.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { ago, due, html, type SafeHtml } from '#src/site/html.ts';

/** Does the last check say that each rule holds? */
export const isAllRight = (check: CheckRow | undefined): check is CheckRow & { finished_at: Date } =>
  check !== undefined && check.finished_at !== null && check.error === null && check.failed === 0;

/** Does each rule hold since a run? */
const holdsSince = (run: RunRow | undefined, check: CheckRow | undefined): boolean =>
  isAllRight(check) && (run === undefined || check.finished_at > run.started_at);

const UNREAD = 'Your application is paused: the platform does not read your games';
const FAILED = 'The last run failed';
const UNANSWERED = 'The platform gets no answer from your server';
const ENDS: Readonly<Record<string, string>> = { failed: FAILED, abandoned: 'The last run was abandoned' };

/** Has a run that read the list ended? */
export const isListRead = ({ application, ended }: Reading): boolean =>
  application?.last_success_at != null || (ended?.outcome != null && !(ended.outcome in ENDS));

/** Did nothing answer a run? */
const isUnanswered = (run: RunRow | undefined): boolean => run?.reason != null && namesUnanswered(run.reason);

/** Says that the platform does not read the games of an application. @returns null if it does */
export const unreadTitle = ({ application, ended, isPaused }: Reading): string | null => {
  if (isPaused) return UNREAD;
  if (application?.failing_since != null)
    return isUnanswered(ended) ? UNANSWERED : 'The platform cannot read your list';
  // A run by hand, or while the platform reached hardly any application, does not count as a failure of its schedule.
  return ended?.outcome === 'failed' ? FAILED : null;
};

const whyOfRun = (run: RunRow | undefined): SafeHtml | null => {
  const why = run === undefined ? null : whyCell(run);
  return why === null ? null : html`<span dir="auto">${showWhy(endSentence(why))}</span>`;
};

/** Says how the last run ended, and why. */
const describeEnd = (run: RunRow | undefined): SafeHtml | null => {
  const why = whyOfRun(run);
  const end = ENDS[run?.outcome ?? ''];
  return why && html`<p>${end && html`<strong>${end}:</strong> `}${why}</p>`;
};

const CHECKED = 'Your checks pass: ask the operators to resume it.';
const CORRECT = 'Correct what failed, run the checks, then write to the operators: only they resume it.';

/** @param isRight does each rule hold since the last run? */
const describePause = (
  { pause_reason }: ApplicationRow,
  ended: RunRow | undefined,
  isRight: boolean,
): SafeHtml => {
  const end = describeEnd(ended);
  if (pause_reason === null)
    return html`<p>An operator of the platform has paused it: ask why, and to resume it.</p>${end}`;
  // What stands below does not stand in the reason, too.
  const reason = end === null ? spellKinds(pause_reason) : (pause_reason.split(LAST_WITH)[0] ?? pause_reason);
  return html`<p dir="auto">${endSentence(reason)}</p>${end}<p>${MEANWHILE} ${isRight ? CHECKED : CORRECT}</p>`;
};

/**
 * The next step of a developer whose application is paused, and what else they may do. If its runs failed, the checks are
 * first, until nothing fails.
 * @param isRight does each rule hold since the last run?
 */
const resumeWay = (
  { pause_reason }: ApplicationRow,
  isRight: boolean,
  contact: string | undefined,
): Pick<Problem, 'step' | 'also'> => {
  const write = writeStep(contact);
  if (pause_reason === null || isRight) return { step: write };
  return { step: { ...CHECKS, act: 'Run the checks' }, ...(write && { also: linkButton(write) }) };
};

/** How the addresses of webhooks change. @param contact where the operators are reached */
export const describeAddressChange = (contact: string | undefined): SafeHtml => {
  const write =
    contact === undefined ? 'Tell the operators' : html`<a href="${contact}">Write to the operators</a>`;
  return html`Have they moved? ${write}: only they change the addresses of your webhooks.`;
};

export const READ_AGAIN = html`<p>Corrected it? <em>Read my list now</em> does not wait for the next run.</p>`;

const MEANWHILE = 'Meanwhile no game is withdrawn, and no change is seen.';
const THEN_PAUSED = `After ${PAUSE_AFTER_RUNS} failed runs in a row, over ${spellWait(PAUSE_AFTER_MS)} or more, the
application is paused.`;

const describeFailing = (
  { failing_since, query_game_list_webhook }: ApplicationRow,
  { application, ended, isReading, mayRead }: Reading,
  contact: string | undefined,
): SafeHtml => {
  const why = whyOfRun(ended);
  const end =
    failing_since === null
      ? html`${why && html`<p>${why}</p>`}<p class="soft">Ended ${ago(ended?.finished_at ?? null)}`
      : html`${describeEnd(ended)}<p class="soft">First failure ${ago(failing_since)}`;
  const called = isUnanswered(ended)
    ? html`<p>Called: <span class="mono">${query_game_list_webhook}</span>. ${describeAddressChange(contact)}</p>`
    : null;
  const next = nextRunAt(application);
  const then = isReading ? 'Your list is being read' : next && html`Next run ${due(next)}`;
  const meanwhile = failing_since === null ? null : html`<p>${MEANWHILE} ${THEN_PAUSED}</p>`;
  return html`${end}${then && html`<br>${then}`}</p>${called}${meanwhile}${mayRead ? READ_AGAIN : null}`;
};

/** Why the platform does not read the games of an application, and what its developer does. @param check the last one */
export const unreadProblem = (
  reading: Reading,
  check: CheckRow | undefined,
  contact: string | undefined,
): Problem[] => {
  const title = unreadTitle(reading);
  const { application, ended, isPaused, mayRead } = reading;
  if (application === undefined || title === null) return [];
  const isRight = holdsSince(ended, check);
  const [body, way] = isPaused
    ? [describePause(application, ended, isRight), resumeWay(application, isRight, contact)]
    : [
        describeFailing(application, reading, contact),
        { step: CHECKS, also: mayRead ? READ_BUTTON : undefined },
      ];
  return [{ title, body, tone: 'bad', ...way }];
};

export const SEE_WHY: Step = { url: '/portal/runs', act: 'See why' };

export const READ_BEFORE = html`<p>This page shows what was read before.</p>`;

/** Says on other pages, in one line, that games are not read. The overview and the failures say why. */
export const pausedBanner = (application: ApplicationRow | undefined, said = READ_BEFORE): SafeHtml | null =>
  application?.status === 'paused' ? banner(UNREAD, said, 'bad', linkButton(SEE_WHY)) : null;

const describeChecks = (application: ApplicationRow | undefined): string =>
  application?.pause_reason == null
    ? 'You can still run the checks.'
    : 'Run the checks, then write to the operators.';

/** Says above the checks of a paused application what they are for. @param check the last one */
export const pausedChecksBanner = (
  { application, ended, isPaused }: Reading,
  check: CheckRow | undefined,
  contact: string | undefined,
): SafeHtml | null => {
  const isRight = holdsSince(ended, check);
  const said = html`<p>${isRight ? CHECKED : describeChecks(application)}</p>`;
  const step = writeStep(contact);
  return !isPaused || step === null
    ? pausedBanner(application, said)
    : banner(UNREAD, said, 'bad', linkButton(step, isRight ? ' primary' : ''));
};
