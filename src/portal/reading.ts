/** How the platform reads the list of an application now, and what a page shows meanwhile, until it reloads itself. */
import type { FastifyReply } from 'fastify';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import { hasWaitingGames, WHOLE_LIST } from '#db/queries/refreshes.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import { banner, linkButton } from '#src/portal/answer.ts';
import { showWhy, whyCell } from '#src/portal/schedule.ts';
import { endSentence } from '#src/rules/answer.ts';
import { ago, html, type SafeHtml } from '#src/site/html.ts';

/** How the platform reads the list of an application. */
export type Reading = {
  application: ApplicationRow | undefined;
  /** The last run. */
  last: RunRow | undefined;
  /** The last run that has ended. */
  ended: RunRow | undefined;
  isPaused: boolean;
  /** A run is open or requested. */
  isReading: boolean;
  /** A run may be requested. */
  mayRead: boolean;
};

export const readReading = async (sources: Sources, application_id: string): Promise<Reading> => {
  // An application has one open run at most.
  const [application, [last, before], isRequested] = await Promise.all([
    findApplication(sources.sql, application_id),
    readFirst(runList, sources, { application_id }, 2),
    hasWaitingGames(sources.sql, application_id, [WHOLE_LIST]),
  ]);
  const isOpen = last !== undefined && last.finished_at === null;
  const isActive = application?.status === 'active';
  const isReading = isActive && (isOpen || isRequested);
  return {
    application,
    last,
    ended: isOpen ? before : last,
    isPaused: application?.status === 'paused',
    isReading,
    mayRead: isActive && !isReading,
  };
};

const OR_LONGER = 'or longer if your server is slow.';
const A_MINUTE = `It takes a minute, ${OR_LONGER}`;

/** Describes the run that is open or requested. */
export const describeReading = ({ last }: Pick<Reading, 'last'>): SafeHtml => {
  if (last === undefined || last.finished_at !== null) return html`${A_MINUTE}`;
  const why = whyCell(last);
  const said = why === null ? A_MINUTE : html`<span dir="auto">${showWhy(endSentence(why))}</span>`;
  return html`The run began ${ago(last.started_at)}. ${said}`;
};

/** The page polls `here`, and reloads at the end. Without scripts, it has a button. */
const pollingBanner = (title: string, said: SafeHtml | string, here: string): SafeHtml => {
  const poll = html`<p hx-get="${here}" hx-trigger="every 3s" hx-swap="none" data-reloads>${said}</p>`;
  return banner(title, poll, 'info', html`<noscript>${linkButton({ url: here, act: 'Reload' })}</noscript>`);
};

/** Says that the list is being read. @param here the address of the page */
export const readingBanner = (reading: Reading, here: string): SafeHtml | null =>
  reading.isReading ? pollingBanner('Reading your list', describeReading(reading), here) : null;

/** Says that a game is pulled on request. @param here the address of its page */
export const pullingBanner = (here: string): SafeHtml =>
  pollingBanner('Reading the game', `It takes some seconds, ${OR_LONGER}`, here);

/** Answers a page that polls: nothing while it waits, then a reload, which updates all of it. */
export const answerPoll = (reply: FastifyReply, isWaiting: boolean): FastifyReply =>
  isWaiting ? reply.code(204).send() : reply.header('hx-refresh', 'true').send();
