/** When the platform reads the games of an application, and why a run ended. */
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { withoutAdvice } from '#src/contract/words.ts';
import { DAY_MS, formatDuration, spellDuration } from '#src/lib/duration.ts';
import { whyOf } from '#src/lists/runs.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { badge, due, html, type SafeHtml } from '#src/site/html.ts';

const spell = (ms: number): string => (ms === DAY_MS ? '24 hours' : spellDuration(formatDuration(ms)));

const every = (ms: number): string => `every ${spell(ms).replace(/^1 /, '')}`;

/** Describes how soon the platform sees a change of a game. */
export const describeSchedule = ({ every_ms, detail_max_age_ms }: ApplicationRow): SafeHtml =>
  html`The platform reads your list ${every(every_ms)}, and sees changed rows then. It sees a change of a
detail alone within ${spell(detail_max_age_ms)}, or seconds after <em>Read this game now</em> or a call of
<code>POST /open-api/game/refresh</code>.`;

/** Describes how often it reads, in one line. */
export const describePace = ({ every_ms, detail_max_age_ms }: ApplicationRow): string =>
  `Your list is read ${every(every_ms)}, each detail at least ${every(detail_max_age_ms)}.`;

/** Says when the list is read next. @returns null if the application is paused */
export const describeNextRead = (application: ApplicationRow | undefined): SafeHtml | null => {
  const at = nextRunAt(application);
  return at && html`The next read of your list is due ${due(at)}.`;
};

const RUNNING = 'running';
/** What operators call open. */
export const RUN_WORDS = { open: RUNNING };
export const RUNNING_BADGE = badge(RUNNING, 'info');

/** The beginning of a reason: a page of the list was not read. The details of a page have a number before them. */
const LIST_PAGE = /^page (?=\d+: (?!\d+ of \d+ details))/;

/** How the reason of a run begins that would withdraw too many games (src/rules/outcome.ts). */
export const LOST = /^would withdraw (\d+) of (\d+) games, so withdrew none/;

/** Explains why a run ended as it did, without codes and the advice for operators. */
export const whyCell = (run: RunRow): string | null => {
  const why = whyOf(run);
  if (why === null) return null;
  return spellKinds(withoutAdvice(why))
    .replace(LIST_PAGE, 'query_game_list, page ')
    .replace(LOST, 'Your list lost $1 of $2 games, so none was withdrawn');
};

/** The end of the note about a requested delay (src/ingest/note-requested-delay.ts). The application's own text is before it. */
const CALLED_AT = /^(.* called again) at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC(\.?)$/s;

/** Shows why a run ended or waits, with the time of its next call relative to now. */
export const showWhy = (why: string): SafeHtml => {
  const [, before, day, time, end] = CALLED_AT.exec(why) ?? [];
  const at = new Date(`${day}T${time}Z`);
  return Number.isNaN(at.getTime()) ? html`${why}` : html`${before} ${due(at)}${end}`;
};
