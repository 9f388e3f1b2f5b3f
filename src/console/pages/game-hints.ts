/** What else may decide a game. Each hint says what it rests on; none decides. */
import type { SimilarGame } from '#db/queries/similar-icons.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { gameName, html, type SafeHtml, section, statusBadges } from '#src/site/html.ts';

const similarGame = (game: SimilarGame, { pictures }: GameView): SafeHtml => html`<li class="similar">
${iconPlace({ ...game, game_id: `like-${game.game_id}` }, pictures.pictures, 'large')}
<div><a href="/games/${game.game_id}">${gameName(game.game_name)}</a>
<span class="meta">${game.application_name}</span>${statusBadges(game)}</div></li>`;

/** Other games with the same icon, those of other applications first. */
export const similarIcons = (view: GameView): SafeHtml | null => {
  const { similar, hasMoreSimilar } = view.pictures;
  if (similar.length === 0) return null;
  const others = similar.some(({ application_id }) => application_id !== view.game.application_id);
  const title = others ? 'Another application has this icon' : 'Other games have this icon';
  const more = hasMoreSimilar ? html`<p class="soft">There are more.</p>` : null;
  return section(
    title,
    html`<div class="body"><ul class="similars">${similar.map((game) => similarGame(game, view))}</ul>
${more}<p class="soft">The pictures are the same, or nearly.</p></div>`,
    { tone: others ? 'warn' : undefined },
  );
};
