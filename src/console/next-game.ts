/** Leads a reviewer to the next game of a lane that no other reviewer has. */
import { claimFirstGame } from '#db/queries/game-leases.ts';
import type { Lane } from '#src/contract/words.ts';
import { readUpcoming } from '#src/lists/review.ts';
import { link } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import type { LaneFilters } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** Games that are tried together: more than a team has open. */
const PAGE = 25;

type From = {
  filters: LaneFilters & { lane: Lane };
  /** The place in the lane; absent: its head. */
  after: string | undefined;
  /** The game whose page the reviewer looks at. */
  back?: string | undefined;
};

/**
 * Leases the next free game.
 * @returns `game_id`, if there is one, and its address or that of the lane, where its search goes on. `hasOthers`: other
 * reviewers have games of the lane
 */
export const leadOn = async (
  options: ConsoleOptions,
  login: string,
  { filters, after, back }: From,
): Promise<{ game_id: string | undefined; url: string; hasOthers: boolean }> => {
  const { lane, application: application_id, q: search } = filters;
  let cursor = after;
  for (let hasOthers = false; ; ) {
    const page = await readUpcoming(sourcesOf(options), { lane, application_id, search }, cursor, PAGE);
    const ids = page.rows.map(({ game_id }) => game_id);
    const game_id = await claimFirstGame(options.sql, ids, login, back ?? null);
    if (game_id !== undefined)
      return { game_id, url: link(`/games/${game_id}`, { ...filters, back }), hasOthers };
    hasOthers ||= ids.length > 0;
    const isCut = search !== undefined && ids.length < PAGE;
    if (page.cursor === undefined || isCut)
      return { game_id, url: link('/review', { ...filters, cursor: page.cursor }), hasOthers };
    cursor = page.cursor;
  }
};
