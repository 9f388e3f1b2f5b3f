/** The page of an id, or of a name, of which no run has seen a game. */
import { banner, emptyCard, pullButton } from '#src/portal/answer.ts';
import { NOT_STORED } from '#src/rules/absent-game.ts';
import type { Answer } from '#src/rules/answer.ts';
import { BEGINNING_MIN } from '#src/rules/search-words.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** Has no run seen a game of this id? */
export const isUnknownGame = ({ code }: Answer): boolean => code === 'not_pulled' || code === 'not_listed';

const SHORT = html`A name is found by its whole words, and by their first ${BEGINNING_MIN} letters or more.`;
const NEW_GAME = html`The platform sees a new game when it next reads your list, or within a minute after
you pull it here or call <code>POST /open-api/game/refresh</code>.`;
const SEE_RUNS = html` <a href="/portal/runs">See the runs</a>`;

/**
 * What to do if it is a name, and what the last runs say if it is an id.
 * @param state.isPaused the banner of the page then says why the list is not read
 */
export const unknownCards = (
  id: string,
  { text }: Answer,
  { isPaused, isPulling, isFailing }: Record<'isPaused' | 'isPulling' | 'isFailing', boolean>,
): SafeHtml => {
  const typed =
    id.trim().length < BEGINNING_MIN
      ? emptyCard('Type more of it', SHORT, null)
      : emptyCard('If it is a name, check its spelling', null, null);
  if (isPaused) return typed;
  const known = html`<p>${text.replace(NOT_STORED, '')}${isFailing ? SEE_RUNS : null}</p><p>${NEW_GAME}</p>`;
  const tone = isFailing ? 'warn' : undefined;
  return html`${typed}${banner('If it is the game_id of a new game', known, tone, isPulling ? null : pullButton(id))}`;
};
