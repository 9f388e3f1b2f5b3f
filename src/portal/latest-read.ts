/** How the latest read of a game ended, at the head of its page. */
import type { GameRow } from '#db/queries/games.ts';
import {
  adviseOn,
  describeOpenFailure,
  type Failed,
  isOwnKind,
  isUnanswered,
} from '#src/contract/failure-words.ts';
import { banner, pullButton, READ_BUTTON } from '#src/portal/answer.ts';
import type { Reading } from '#src/portal/reading.ts';
import type { Timeline, TimelineEntry } from '#src/review/timeline.ts';
import { FAILED } from '#src/rules/absent-game.ts';
import { ago, html, type SafeHtml } from '#src/site/html.ts';

/** What a read of a game causes. It is recorded later than the game was requested. */
const CAUSED: readonly TimelineEntry['kind'][] = [
  'received',
  'waiting',
  'returned',
  'event_delivered',
  'event_failed',
];

/**
 * Says how the latest read of a game ended, until something else happens to the game.
 * @param received_at when its revision was requested
 */
export const latestRead = ({ game, entries }: Timeline, received_at: Date | undefined): SafeHtml | null => {
  if (game === null || received_at === undefined) return null;
  const { fetched_at, revision } = game;
  if (entries.some(({ at, kind }) => at > fetched_at && !CAUSED.includes(kind))) return null;
  const written = revision === 1 ? 'the game is stored' : 'the game is updated';
  return html`<p class="soft">Read ${ago(fetched_at)}: ${received_at < fetched_at ? 'nothing changed' : written}.</p>`;
};

/** What a developer does after the correction. A pull does not read the list. */
const nextStep = (isOfList: boolean, isPaused: boolean): string => {
  if (isPaused) return 'write to the operators';
  return isOfList ? 'have your list read' : 'have the game read';
};

/** What a correction ends. */
const problemOf = (game: GameRow | null, isOfList: boolean): string => {
  if (game === null) return 'The game is not stored';
  return isOfList ? 'Its row in your list is not valid' : 'Your latest change is not stored';
};

/** What a developer does about a call that failed as a whole; nothing if the platform is to blame. */
const adviseOnServer = (failure: Failed, then: string): string => {
  if (isOwnKind(failure.kind)) return '';
  return `: ${isUnanswered(failure) ? 'make your server reachable' : 'correct your server'}, then ${then}`;
};

/** Says that the latest data of a game is not stored, and what to correct. @param isPulling is the game pulled on request? */
export const refusedBanner = (
  { application_game_id, game, answer, failure }: Timeline,
  { isPaused, mayRead }: Reading,
  isPulling: boolean,
): SafeHtml | null => {
  if (failure === null) return null;
  const isOfList = failure.operation === 'query_game_list';
  const then = nextStep(isOfList, isPaused);
  const advice = adviseOn(failure, then).replace(/\.$/, '');
  const title =
    advice === ''
      ? `The latest read of this game failed${adviseOnServer(failure, then)}`
      : `${problemOf(game, isOfList)}: ${advice[0]?.toLowerCase()}${advice.slice(1)}`;
  const [imported = ''] = game === null ? answer.text.split(FAILED) : [];
  const said = html`${imported && html`<p>${imported}</p>`}<p dir="auto">${describeOpenFailure(failure)}</p>
<p class="soft">Read ${ago(failure.last_at)}: it failed.</p>`;
  const button = isOfList ? READ_BUTTON : pullButton(application_game_id, 'primary');
  const isWaiting = isOfList ? !mayRead : isPulling;
  const tone = game === null ? 'bad' : 'warn';
  return banner(title, said, tone, isPaused || isWaiting ? null : button);
};
