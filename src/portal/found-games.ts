/** What a search of games in the portal finds. */
import { findAppeals } from '#db/queries/appeals.ts';
import { findDecided } from '#db/queries/decisions.ts';
import { findRefused } from '#db/queries/failures.ts';
import type { GameItem } from '#db/queries/game-list.ts';
import { gameList } from '#src/lists/games.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { appealBadge, decidedBadge, refusedBadge, statusBadge } from '#src/portal/game-badges.ts';
import { nameCell, onPhone, WIDTHS_BESIDE_WORDS } from '#src/portal/game-cells.ts';
import { linkTo } from '#src/portal/links.ts';
import { hasWords, scoreOfName, wordsOf } from '#src/rules/search-words.ts';
import { html, number, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { listSection } from '#src/site/list-table.ts';

/** Does a game have each word that was typed, or an id that begins so? */
const isFound = (search: string) => {
  const typed = wordsOf(search);
  return ({ game_name, application_game_id, game_id }: GameItem): boolean =>
    hasWords(typed, game_name) || [application_game_id, game_id].some((id) => id.startsWith(search.trim()));
};

/** How found games are shown: each has its status, and what waits for its developer. */
const shownOf = async ({ sql }: Sources, application_id: string, rows: readonly GameItem[]) => {
  const [decided, refused, appeals] = await Promise.all([
    findDecided(sql, rows),
    findRefused(sql, application_id, rows),
    findAppeals(sql, rows),
  ]);
  const note = (game: GameItem): SafeHtml => {
    const { game_id, audit_status, withdrawn_at } = game;
    const at =
      withdrawn_at === null ? onPhone('Decided', game.audit_time) : onPhone('Withdrawn', withdrawn_at);
    const before = audit_status === 'pending' ? decidedBadge(decided.get(game_id)) : null;
    const isRefused = refused.has(game.application_game_id);
    return html`${at}${before}${appealBadge(appeals.get(game_id) ?? null)}${refusedBadge(isRefused)}`;
  };
  return {
    linkTo,
    label: 'Games',
    only: ['game_name', 'audit_status', 'revision', 'decided'],
    widths: WIDTHS_BESIDE_WORDS,
    cells: { game_name: await nameCell(sql, application_id, rows, note), audit_status: statusBadge },
  };
};

/** Games of every status with this name or id. @returns undefined if there is none, so the page of a game says why */
export const showFound = async (sources: Sources, application_id: string, query: unknown, limit: number) => {
  const view = { path: '/portal/games', query, limit, order: '-first_seen', fixed: { application_id } };
  const { rows, filter, pager, body } = await showList(sources, gameList, view);
  const search = filter.search ?? '';
  const isOne = rows.length === 1 && rows[0]?.application_game_id === search;
  if (pager === null && (isOne || !rows.some(isFound(search)))) return undefined;
  const title =
    pager === null ? `${number(rows.length)} ${rows.length === 1 ? 'game' : 'games'} found` : 'Games found';
  return body({ ...(await shownOf(sources, application_id, rows)), title });
};

const SIMILAR_SHOWN = 10;
/** A name with half of the words has more. */
const SIMILAR_MIN = 0.4;

/** Games with a name that is like what was typed, where no game has it. @returns null if there is none */
export const showSimilar = async (sources: Sources, application_id: string, search: string) => {
  const typed = wordsOf(search);
  const found = await readFirst(gameList, sources, { application_id, search }, SIMILAR_SHOWN);
  const rows = found.filter(({ game_name }) => scoreOfName(typed, game_name) >= SIMILAR_MIN);
  const shown = await shownOf(sources, application_id, rows);
  return listSection('Similar games', gameList, rows, { ...shown, stacked: false });
};
