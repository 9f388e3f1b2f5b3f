/** Cells of the lists of games in the portal. */
import type { Database } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { findIcons } from '#db/queries/pictures.ts';
import { findUnanswered } from '#db/queries/threads.ts';
import { findUnnamed } from '#db/queries/vanishing-games.ts';
import { messageBadge, unnamedBadge } from '#src/portal/game-badges.ts';
import { gameUrl } from '#src/portal/links.ts';
import { type Iconed, iconOf } from '#src/portal/pictures.ts';
import { ago, gameName, html, type SafeHtml } from '#src/site/html.ts';

/** The cell that names a game, with its icon. @param note what a phone shows there, without room for its column */
export const nameCell = async <Game extends Iconed & Pick<GameRow, 'game_id'>>(
  sql: Database,
  application_id: string,
  games: readonly Game[],
  note: (game: Game) => SafeHtml | null = () => null,
) => {
  const [icons, unanswered, unnamed] = await Promise.all([
    findIcons(sql, games),
    findUnanswered(sql, games),
    findUnnamed(sql, application_id, games),
  ]);
  const waits = ({ game_id }: Game): SafeHtml =>
    html`${unnamedBadge(unnamed.has(game_id))}${messageBadge(unanswered.has(game_id))}`;
  return (game: Game): SafeHtml => html`<span class="titled">${iconOf(game, icons, 'tiny')}
<a href="${gameUrl(game.application_game_id)}"><span dir="auto">${gameName(game.game_name)}</span></a>
<small class="mono">${game.application_game_id}</small>${note(game)}${waits(game)}</span>`;
};

/** A column of a time has no room on a phone. */
export const onPhone = (what: 'Changed' | 'Decided' | 'Withdrawn', at: Date | null): SafeHtml | null =>
  at && html`<span class="to-640"><small>${what} ${ago(at)}</small></span>`;

/** Few columns have room where those of operators have none. A phone has room for the one that orders the rows. */
export const WIDTHS = {
  revision: 'medium',
  decided: 'medium',
  changed: 'medium',
  first_seen: undefined,
} as const;
/** Beside a reason or a status, a phone has room for the game alone. */
export const WIDTHS_BESIDE_WORDS = { ...WIDTHS, first_seen: 'wider' } as const;
