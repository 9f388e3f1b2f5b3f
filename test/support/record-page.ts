import type { Database, Queryable } from '#db/client.ts';
import { compareGames, type DetailAge, type NamedGame } from '#db/queries/compare-games.ts';
import type { NewPage } from '#db/queries/run-pages.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { ApplicationGameList } from '#src/contract/application.ts';
import type { ListingEnd } from '#src/contract/words.ts';
import { comparePage, type ListCursor, recordAll, recordPages } from '#src/ingest/record-page.ts';
import { createProcessPace } from '#src/webhooks/pace.ts';

/**
 * Compares and records one page, in a process that has done nothing before.
 * @returns what became of it; undefined when nothing was written
 */
export const recordPage = async (
  sql: Database,
  cursor: Omit<ListCursor, 'unrecorded'>,
  response: ApplicationGameList,
  pageCap: number,
) => {
  const deps = { sql, pace: createProcessPace(), pageCap };
  const read = await comparePage(deps, { ...cursor, unrecorded: [] }, response);
  if (!(await recordAll(sql, read))) return undefined;
  const [page] = read.unrecorded;
  return {
    listed: page?.application_game_ids.length,
    wanted: Object.keys(page?.open_games ?? {}).length,
    invalid: page?.invalid,
    end: read.run.listing_end,
    next: read,
  };
};

/** A page whose rows are given by their games. */
export type NamedPage = Pick<NewPage, 'page_num' | 'row_count' | 'total' | 'unnamed' | 'listed_bytes'> & {
  named: readonly NamedGame[];
  listing_end: ListingEnd | null;
};

/** Compares and records a page. @returns the number of wanted details; undefined when nothing was written */
export const recordNamed = async (
  sql: Queryable,
  run: RunRow,
  { named, listing_end, ...page }: NamedPage,
  age: DetailAge,
): Promise<number | undefined> => {
  const compared = await compareGames(sql, run.application_id, named, age);
  const application_game_ids = named.map((game) => game.application_game_id);
  const unrecorded = [
    {
      ...page,
      ...compared,
      application_game_ids,
      listed: named.length + page.unnamed,
      invalid: compared.invalid + page.unnamed,
      failures: [],
    },
  ];
  const cursor = { run: { ...run, listing_end }, unrecorded };
  return (await recordPages(sql, cursor)) && Object.keys(compared.open_games).length;
};
