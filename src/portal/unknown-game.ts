/** The page of an id, or of a name, of which no run has seen a game. */
import { banner, pullButton } from '#src/portal/answer.ts';
import { NOT_STORED } from '#src/rules/absent-game.ts';
import type { Answer } from '#src/rules/answer.ts';
import { BEGINNING_MIN } from '#src/rules/search-words.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** Has no run seen a game of this id? */
export const isUnknownGame = ({ code }: Answer): boolean => code === 'not_pulled' || code === 'not_listed';

/** The line below the title. */
export const unknownLead = (typed: string): SafeHtml => {
  const advice =
    typed.trim().length < BEGINNING_MIN
      ? `Type more of it: a name is found by its whole words, and by their first ${BEGINNING_MIN} letters or more.`
      : 'If it is a name, check its spelling.';
  return html`for “<span dir="auto">${typed}</span>”. ${advice}`;
};

const NEW_GAME = html`The platform sees a new game when it next reads your list, or within a minute after
you pull it here or call <code>POST /open-api/game/refresh</code>.`;
const SEE_RUNS = html` <a href="/portal/runs">See the runs</a>`;

/** What the last runs say of an id. Nothing while the application is paused: the banner says why its list is not read. */
export const unknownCard = (
  id: string,
  { text }: Answer,
  { isPaused, isPulling, isFailing }: Record<'isPaused' | 'isPulling' | 'isFailing', boolean>,
): SafeHtml | null => {
  if (isPaused) return null;
  const known = html`<p>${text.replace(NOT_STORED, '')}${isFailing ? SEE_RUNS : null}</p><p>${NEW_GAME}</p>`;
  const tone = isFailing ? 'warn' : undefined;
  return banner('If it is the game_id of a new game', known, tone, isPulling ? null : pullButton(id));
};
