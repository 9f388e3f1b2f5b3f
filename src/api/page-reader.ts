import type { Database } from '#db/client.ts';
import {
  type CataloguePage,
  type PagePlace,
  type Scope,
  selectCataloguePage,
} from '#db/queries/catalogue.ts';
import type { AuditStatus } from '#db/schema/games.ts';
import { inTurn } from './in-turn.ts';

type PageNumber = { page_num: number; page_size: number };

/** Places kept, some 200 bytes each. */
const PLACES_MAX = 10_000;

/**
 * Keep a value under a key, after all others are let go of when there are too many. Not the oldest one each time: a Map
 * looks for it past all that were deleted before it.
 */
const keep = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  if (map.size >= PLACES_MAX) map.clear();
  map.set(key, value);
};

/**
 * Read pages of the catalogue, as `selectCataloguePage` does. Who reads page after page, or a page again, while no
 * game comes or goes has it without looking up where it begins: that is known from the page before. Whether it still
 * holds is read together with the page; where it does not, the page is read again as if nothing were known. Calls
 * that ask for the same page at the same time share a reading.
 */
export const createPageReader = (sql: Database) => {
  /** The state that the games of a scope and audit_status were in when a page of them was last read. */
  const states = new Map<string, string>();
  const places = new Map<string, PagePlace & { state: string }>();

  const remember = (games: string, skip: number, page: CataloguePage): void => {
    // Places are worth keeping where the games stand still: while they come and go no place is right twice.
    const stoodStill = states.get(games) === page.state;
    keep(states, games, page.state);
    const [first, last] = [page.list[0], page.list.at(-1)];
    if (!stoodStill || first === undefined || last === undefined) return;
    const { state } = page;
    keep(places, `${skip} ${games}`, { start: first.game_id, ahead: 0, state });
    keep(places, `${skip + page.list.length} ${games}`, { start: last.game_id, ahead: 1, state });
  };

  const read = async (scope: Scope, audit_status: AuditStatus, page: PageNumber): Promise<CataloguePage> => {
    const games = `${audit_status} ${scope ?? ''}`;
    const skip = (page.page_num - 1) * page.page_size;
    const place = places.get(`${skip} ${games}`);
    if (place !== undefined && place.state === states.get(games)) {
      const found = await selectCataloguePage(sql, scope, audit_status, page, place);
      if (found.state === place.state) {
        remember(games, skip, found);
        return found;
      }
      // Read from the wrong place: nothing but the state is to be learnt from it.
      keep(states, games, found.state);
    }
    const found = await selectCataloguePage(sql, scope, audit_status, page);
    remember(games, skip, found);
    return found;
  };

  const together = inTurn<CataloguePage>();
  return (scope: Scope, audit_status: AuditStatus, page: PageNumber): Promise<CataloguePage> =>
    together(`${page.page_num} ${page.page_size} ${audit_status} ${scope ?? ''}`, () =>
      read(scope, audit_status, page),
    );
};
