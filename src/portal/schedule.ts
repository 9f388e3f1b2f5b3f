/** When the platform reads the games of an application, and why it does not. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { withoutAdvice } from '#src/contract/words.ts';
import { DAY_MS, formatDuration, spellDuration } from '#src/lib/duration.ts';
import { whyOf } from '#src/lists/runs.ts';
import { banner, linkButton, READ_BUTTON, type Step, writeStep } from '#src/portal/answer.ts';
import { endSentence } from '#src/rules/answer.ts';
import { LAST_WITH } from '#src/rules/backoff.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { ago, due, html, type SafeHtml } from '#src/site/html.ts';

const spell = (ms: number): string => (ms === DAY_MS ? '24 hours' : spellDuration(formatDuration(ms)));

/** Describes how soon the platform sees a change of a game. */
export const describeSchedule = ({ every_ms, detail_max_age_ms }: ApplicationRow): SafeHtml =>
  html`The platform reads your list every ${spell(every_ms)}, and sees changed rows then. It sees a change of a
detail alone within ${spell(detail_max_age_ms)}, or seconds after <em>Pull this game now</em> or a call of
<code>POST /open-api/game/refresh</code>.`;

/** Describes how often it reads, in one line. */
export const describePace = ({ every_ms, detail_max_age_ms }: ApplicationRow): string =>
  `Your list is read every ${spell(every_ms)}, each detail at least every ${spell(detail_max_age_ms)}.`;

/** Says when the list is read next. @returns null if the application is paused */
export const describeNextRead = (application: ApplicationRow | undefined): SafeHtml | null => {
  const at = nextRunAt(application);
  return at && html`The next read of your list is due ${due(at)}.`;
};

/** The beginning of a reason: a page of the list was not read. The details of a page have a number before them. */
const LIST_PAGE = /^page (?=\d+: (?!\d+ of \d+ details))/;

/** Explains why a run ended as it did, without codes and the advice for operators. */
export const whyCell = (run: RunRow): string | null => {
  const why = whyOf(run);
  return why === null ? null : spellKinds(withoutAdvice(why)).replace(LIST_PAGE, 'query_game_list, page ');
};

/** The end of the note about a requested delay (src/ingest/note-requested-delay.ts). The application's own text is before it. */
const CALLED_AT = /^(.* called again) at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC(\.?)$/s;

/** Shows why a run ended or waits, with the time of its next call relative to now. */
export const showWhy = (why: string): SafeHtml => {
  const [, before, day, time, end] = CALLED_AT.exec(why) ?? [];
  const at = new Date(`${day}T${time}Z`);
  return Number.isNaN(at.getTime()) ? html`${why}` : html`${before} ${due(at)}${end}`;
};

const CHECKED = 'Your checks pass: ask the operators to resume it.';

/** @param last why the last run failed, which the reason of the pause then does not repeat @param isRight do the checks pass since? */
const describePause = (
  { pause_reason }: ApplicationRow,
  last: SafeHtml | null,
  isRight: boolean,
): SafeHtml => {
  if (pause_reason === null)
    return html`<p>An operator of the platform has paused it: ask why, and to resume it.</p>${last}`;
  const shown = last === null ? spellKinds(pause_reason) : (pause_reason.split(LAST_WITH)[0] ?? pause_reason);
  return html`<p dir="auto">${endSentence(shown)}</p>
${last}<p>${isRight ? CHECKED : 'Correct what failed, run the checks, then write to the operators: only they resume it.'}</p>`;
};

/** Leads to the operators, or else to the page that says why. */
export const operatorStep = (contact: string | undefined): Step =>
  writeStep(contact) ?? { url: '/portal/runs', act: 'See the runs' };

/** Does the last check say that each rule holds? */
export const isAllRight = (check: CheckRow | undefined): check is CheckRow & { finished_at: Date } =>
  check !== undefined && check.finished_at !== null && check.error === null && check.failed === 0;

/** Does each rule hold since the last run? */
export const holdsSince = (run: RunRow | undefined, check: CheckRow | undefined): boolean =>
  isAllRight(check) && (run === undefined || check.finished_at > run.started_at);

/**
 * The next step of a developer whose application is paused, and what else they may do. If its runs failed, the checks are
 * first, until nothing fails.
 * @param isRight does each rule hold since the last run?
 */
export const resumeWay = (
  { pause_reason }: ApplicationRow,
  isRight: boolean,
  contact: string | undefined,
): { step: Step | null; also?: SafeHtml } => {
  const write = writeStep(contact);
  if (pause_reason === null || isRight) return { step: write };
  const checks = { url: '/portal/checks', act: 'Run the checks' };
  return { step: checks, ...(write && { also: linkButton(write) }) };
};

export const READ_AGAIN = html`<p>Corrected it? Do not wait for the next run.</p>`;

const UNREAD = 'Your application is paused: the platform does not read your games';

const FAILED = 'The last run failed';
const ENDS: Readonly<Record<string, string>> = { failed: FAILED, abandoned: 'The last run was abandoned' };

/** Has a run that read the list ended? @param run the last one */
export const isListRead = (application: ApplicationRow | undefined, run: RunRow | undefined): boolean =>
  application?.last_success_at != null || (run?.outcome != null && !(run.outcome in ENDS));

export const FIRST_RUN = 'The first run is open';

/** Describes an open run before which none has read the list. @param run the last one @returns null if it is another one */
export const describeFirstRun = (
  application: ApplicationRow | undefined,
  run: RunRow | undefined,
): SafeHtml | null => {
  if (run === undefined || run.finished_at !== null || isListRead(application, run)) return null;
  const why = whyCell(run);
  return html`It began ${ago(run.started_at)}.${why && html`<br><span dir="auto">${showWhy(endSentence(why))}</span>`}`;
};

/**
 * Describes why the platform does not read the games of an application: it is paused, its runs fail, or the last one did.
 * @param run the last one @param isRight does each rule hold since then?
 * @returns null if the platform reads them. `also`: the button that has them read at once
 */
export const describeUnread = (
  application: ApplicationRow | undefined,
  run: RunRow | undefined,
  isRight = false,
): { title: string; said: SafeHtml; also?: SafeHtml } | null => {
  if (application === undefined) return null;
  const why = run === undefined ? null : whyCell(run);
  const next = nextRunAt(application);
  const end = ENDS[run?.outcome ?? ''];
  const said = why === null ? null : html`<span dir="auto">${endSentence(why)}</span>`;
  const last = said && html`<p>${end && html`<strong>${end}:</strong> `}${said}</p>`;
  if (application.status === 'paused')
    return { title: UNREAD, said: describePause(application, last, isRight) };
  if (application.failing_since !== null)
    return {
      title: 'Your runs do not succeed',
      said: html`${last}<p class="soft">First failure ${ago(application.failing_since)}<br>
Next run ${due(next)}</p>${READ_AGAIN}`,
      also: READ_BUTTON,
    };
  // A run by hand, or while the platform reached hardly any application, does not count as a failure of its schedule.
  if (run?.outcome !== 'failed') return null;
  return {
    title: FAILED,
    said: html`${said && html`<p>${said}</p>`}<p class="soft">Ended ${ago(run.finished_at)}${
      next && html`<br>Next run ${due(next)}`
    }</p>${READ_AGAIN}`,
    also: READ_BUTTON,
  };
};

const SEE_WHY: Step = { url: '/portal/runs', act: 'See why' };

/** Says on other pages, in one line, that games are not read. The overview and the failures say why. */
export const pausedBanner = (
  application: ApplicationRow | undefined,
  said = 'This page shows what was read before.',
): SafeHtml | null =>
  application?.status === 'paused' ? banner(UNREAD, html`<p>${said}</p>`, 'bad', linkButton(SEE_WHY)) : null;

const describeChecks = (application: ApplicationRow | undefined): string =>
  application?.pause_reason == null
    ? 'You can still run the checks.'
    : 'Run the checks, then write to the operators.';

/** Says above the checks of a paused application what they are for. @param run the last one */
export const pausedChecksBanner = (
  application: ApplicationRow | undefined,
  run: RunRow | undefined,
  check: CheckRow | undefined,
  contact: string | undefined,
): SafeHtml | null => {
  const isRight = holdsSince(run, check);
  const said = isRight ? CHECKED : describeChecks(application);
  const step = writeStep(contact);
  return application?.status !== 'paused' || step === null
    ? pausedBanner(application, said)
    : banner(UNREAD, html`<p>${said}</p>`, 'bad', linkButton(step, isRight ? ' primary' : ''));
};
