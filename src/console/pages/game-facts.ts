/** The facts beside the content of a game: its place, its ids and its package URL. */
import type { GameView } from '#src/console/pages/game-view.ts';
import {
  ago,
  applicationLink,
  copyable,
  facts,
  html,
  input,
  mono,
  number,
  type SafeHtml,
  section,
} from '#src/site/html.ts';

/** Shows the place of a game in its lane, and when it is due. An appeal has no place. */
export const waitLine = ({ waiting, appeal }: GameView): SafeHtml | null => {
  if (waiting?.is_held) return html`<span>in no lane: its application is held</span>`;
  const due = appeal?.due ?? waiting?.due;
  if (due === undefined) return null;
  const place = waiting === null ? 'appeal' : `${number(waiting.place)} of ${number(waiting.games)}`;
  return html`<span${due.getTime() <= Date.now() ? html` class="late"` : null}>${place} · due ${ago(due)}</span>`;
};

export const gameFacts = (view: GameView): SafeHtml =>
  section(
    'Game',
    facts([
      ['Application', applicationLink(view.game.application_id)],
      ['Their id', mono(view.game.application_game_id)],
      ['Our id', copyable(view.game.game_id)],
      ['Revision', view.game.revision],
      ['Fetched', ago(view.game.fetched_at)],
    ]),
  );

/** The form of the package URL, folded, because few reviews need it. */
export const packageSection = ({ game, mayDecide }: GameView): SafeHtml => {
  const { game_id, game_package_url: value } = game;
  const form = html`<form method="post" action="/games/${game_id}/package" class="form">
${input('Address', { name: 'url', type: 'url', maxlength: 2048, value })}
<button class="button">Set package URL</button></form>`;
  const body = mayDecide ? form : html`<div class="body mono">${value || '–'}</div>`;
  return html`<details class="card unchanged"><summary>Package URL: ${value === '' ? 'none' : 'set'}</summary>
${body}</details>`;
};
