/** What a search of games in the portal finds. */
import { findAppeals } from '#db/queries/appeals.ts';
import { findDecided } from '#db/queries/decisions.ts';
import { findRefused } from '#db/queries/failures.ts';
import type { GameItem } from '#db/queries/game-list.ts';
import { gameList } from '#src/lists/games.ts';
import type { Sources } from '#src/lists/read.ts';
import { appealBadge, decidedBadge, refusedBadge, statusBadge } from '#src/portal/game-badges.ts';
import { nameCell, onPhone, WIDTHS_BESIDE_WORDS } from '#src/portal/game-cells.ts';
import { linkTo } from '#src/portal/links.ts';
import { hasWords, wordsOf } from '#src/rules/search-words.ts';
import { html, number, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';

/** Says how many games a search found, or that their names are only similar. */
const foundTitle = (rows: readonly GameItem[], search: string, isAll: boolean): string => {
  const typed = wordsOf(search);
  const isFound = ({ game_name, application_game_id, game_id }: GameItem): boolean =>
    hasWords(typed, game_name) || [application_game_id, game_id].some((id) => id.startsWith(search.trim()));
  if (!rows.some(isFound)) return 'No game has this name: similar ones';
  return isAll ? `${number(rows.length)} ${rows.length === 1 ? 'game' : 'games'} found` : 'Games found';
};

/** Games of every status with this name or id. @returns undefined if there is none, so the page of a game says why */
export const showFound = async (sources: Sources, application_id: string, query: unknown, limit: number) => {
  const view = { path: '/portal/games', query, limit, order: '-first_seen', fixed: { application_id } };
  const { rows, filter, pager, body } = await showList(sources, gameList, view);
  const isOne = rows.length === 1 && rows[0]?.application_game_id === filter.search;
  if (pager === null && (rows.length === 0 || isOne)) return undefined;
  const [decided, refused, appeals] = await Promise.all([
    findDecided(sources.sql, rows),
    findRefused(sources.sql, application_id, rows),
    findAppeals(sources.sql, rows),
  ]);
  const note = ({
    game_id,
    application_game_id,
    audit_status,
    audit_time,
    withdrawn_at,
  }: GameItem): SafeHtml =>
    html`${withdrawn_at === null ? onPhone('Decided', audit_time) : onPhone('Withdrawn', withdrawn_at)}${audit_status === 'pending' ? decidedBadge(decided.get(game_id)) : null}${appealBadge(
      appeals.get(game_id) ?? null,
    )}${refusedBadge(refused.has(application_game_id))}`;
  return body({
    title: foundTitle(rows, filter.search ?? '', pager === null),
    linkTo,
    label: 'Games',
    only: ['game_name', 'audit_status', 'revision', 'decided'],
    widths: WIDTHS_BESIDE_WORDS,
    cells: {
      game_name: await nameCell(sources.sql, application_id, rows, note),
      audit_status: statusBadge,
    },
  });
};
