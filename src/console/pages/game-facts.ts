/** What stands beside the content of a game: its place and ids, its package URL. */
import type { GameView } from '#src/console/pages/game-view.ts';
import {
  ago,
  applicationLink,
  copyable,
  facts,
  formatDuration,
  html,
  input,
  mono,
  number,
  type SafeHtml,
  section,
} from '#src/site/html.ts';

const describeWait = ({ waiting, appeal }: GameView): SafeHtml | string | null => {
  if (appeal !== undefined) return html`for a decision on its appeal, due ${ago(appeal.due)}`;
  if (waiting === null) return null;
  const { place, games, lane, due, median_wait_ms, is_held } = waiting;
  if (is_held) return 'in no lane: its application is held';
  const median = median_wait_ms === null ? '' : `, median wait ${formatDuration(median_wait_ms)}`;
  return html`due ${ago(due)}, number ${number(place)} of ${number(games)} in the ${lane} lane${median}`;
};

export const gameFacts = (view: GameView): SafeHtml =>
  section(
    'Game',
    facts([
      ['Waits', describeWait(view)],
      ['Application', applicationLink(view.game.application_id)],
      ['Their id', mono(view.game.application_game_id)],
      ['Our id', copyable(view.game.game_id)],
      ['Revision', view.game.revision],
      ['Fetched', ago(view.game.fetched_at)],
    ]),
  );

/** Folded: few reviews need it. */
export const packageSection = ({ game, mayDecide }: GameView): SafeHtml => {
  const { game_id, game_package_url: value } = game;
  const form = html`<form method="post" action="/games/${game_id}/package" class="form">
${input('Address', { name: 'url', type: 'url', maxlength: 2048, value })}
<button class="button">Set package URL</button></form>`;
  const body = mayDecide ? form : html`<div class="body mono">${value || '–'}</div>`;
  return html`<details class="card unchanged"><summary>Package URL: ${value === '' ? 'none' : 'set'}</summary>
${body}</details>`;
};
