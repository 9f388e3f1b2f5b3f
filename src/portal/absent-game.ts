/** The page of an id, or of a name, of which no game is stored. */

import type { Sources } from '#src/lists/read.ts';
import { answerTone, banner, pullButton } from '#src/portal/answer.ts';
import { showSimilar } from '#src/portal/found-games.ts';
import { refusedBanner } from '#src/portal/latest-read.ts';
import { gameUrl } from '#src/portal/links.ts';
import { type Reading, readingBanner } from '#src/portal/reading.ts';
import { findForm } from '#src/portal/session.ts';
import { listBanner } from '#src/portal/suspect.ts';
import { pausedBanner, unreadTitle } from '#src/portal/unread.ts';
import type { Timeline } from '#src/review/timeline.ts';
import { NOT_STORED } from '#src/rules/absent-game.ts';
import type { Answer } from '#src/rules/answer.ts';
import { BEGINNING_MIN } from '#src/rules/search-words.ts';
import { badge, html, mono, type SafeHtml } from '#src/site/html.ts';
import { timelineCard } from '#src/site/timeline.ts';

/** The line below the title. */
const unknownLead = (typed: string): SafeHtml => {
  const advice =
    typed.trim().length < BEGINNING_MIN
      ? `Type more of it: a name is found by its whole words, and by their first ${BEGINNING_MIN} letters or more.`
      : 'If it is a name, check its spelling.';
  return html`for “<span dir="auto">${typed}</span>”. ${advice}`;
};

const NEW_GAME = html`The platform sees a new game when it next reads your list, or within a minute after
you have it read here or call <code>POST /open-api/game/refresh</code>.`;
const WHEN_READ = 'A new game_id is found once the platform reads your list again.';

/** What the last runs say of an id. Nothing while the application is paused: the banner says why its list is not read. */
const unknownCard = (id: string, { text }: Answer, reading: Reading): SafeHtml | null => {
  const { isPaused, isReading } = reading;
  if (isPaused) return null;
  const soon = unreadTitle(reading) === null ? NEW_GAME : WHEN_READ;
  const then = isReading ? 'The open run finds it, or the next one, if your list names it.' : soon;
  const known = html`<p>${text.replace(NOT_STORED, '')}</p><p>${then}</p>`;
  return banner('If it is the game_id of a new game', known, undefined, isReading ? null : pullButton(id));
};

const FOUND_LATER = html`<p>${WHEN_READ}</p>`;

/** Shows an id of which a call failed, or no run has seen a game. */
export const absentPage = async (
  sources: Sources,
  application_id: string,
  timeline: Timeline,
  reading: Reading,
) => {
  const { application_game_id: id, answer, failure, entries } = timeline;
  const { application, isPaused, isReading } = reading;
  const isUnknown = failure === null;
  const trouble =
    isUnknown && !isPaused
      ? listBanner(reading, undefined)
      : pausedBanner(application, isUnknown ? FOUND_LATER : undefined);
  const body = html`${trouble}
${readingBanner(reading, gameUrl(id))}
${isUnknown ? unknownCard(id, answer, reading) : refusedBanner(timeline, reading, isReading)}
${isUnknown ? await showSimilar(sources, application_id, id) : null}
${entries.length === 0 ? null : timelineCard(timeline, null, true)}`;
  return {
    title: id,
    heading: isUnknown ? 'No game found' : mono(id),
    lead: isUnknown ? unknownLead(id) : badge('not stored', answerTone(answer)),
    actions: findForm(id),
    body,
  };
};
