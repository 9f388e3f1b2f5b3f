import type { Database } from '#db/client.ts';
import { type CataloguePage, listOf, type PageAsked, selectCataloguePages } from '#db/queries/api-games.ts';
import { inTurn, type Lanes } from '#src/api/in-turn.ts';
import { createPagePlaces } from '#src/api/page-places.ts';

/** Pages read in one statement: more of them cost hardly less each. */
const PAGES_MAX = 16;

/**
 * Read pages of the catalogue, those that are asked for at the same time together. Whether the places where they
 * were known to begin still hold is read together with them; a page whose place does not is read again, as if nothing
 * were known.
 * @param options.slowMs as for `inTurn`
 */
export const createPageReader = (
  lanes: Lanes,
  options: { slowMs?: number } = {},
): ((page: PageAsked) => Promise<CataloguePage>) => {
  const places = createPagePlaces(lanes.sql);

  const read = async (sql: Database, asked: readonly PageAsked[]): Promise<CataloguePage[]> => {
    const known = asked.map((page) => places.placeOf(page));
    const found = await selectCataloguePages(
      sql,
      asked.map((page, index) => ({ ...page, place: known[index] })),
    );
    const misplaced: number[] = [];
    const noted = new Set<string>();
    for (const [index, page] of asked.entries()) {
      const [place, state] = [known[index], found[index]?.state ?? ''];
      const holds = place?.state === undefined || place.state === state;
      if (!holds) misplaced.push(index);
      if ((place !== undefined && holds) || noted.has(listOf(page))) continue;
      // Of each list once: in one statement they are of one state, whatever comes and goes.
      noted.add(listOf(page));
      places.note(page, state);
    }
    if (misplaced.length > 0) {
      const again = await selectCataloguePages(
        sql,
        misplaced.flatMap((index) => asked[index] ?? []),
      );
      for (const [at, page] of again.entries()) found[misplaced[at] ?? -1] = page;
    }
    return found;
  };

  return inTurn(lanes, read, {
    keyOf: (page) => `${page.page_num} ${page.page_size} ${listOf(page)}`,
    most: PAGES_MAX,
    ...options,
  });
};
