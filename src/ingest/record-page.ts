import type { Database, Queryable } from '#db/client.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { insertPage, selectNamedBefore } from '#db/queries/run-pages.ts';
import type { CalledApplication, RunRow, StoredPage } from '#db/queries/runs.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { type ListingEnd, NO_GAME } from '#src/contract/words.ts';
import { listingEnd, type ReadPage, readPage } from '#src/rules/listing.ts';
import { listHash } from '#src/rules/mapping.ts';

/** Where a listing stands: its run, which names the next page, and the page before that. */
export type ListCursor = {
  application: CalledApplication;
  run: RunRow;
  previous: Pick<StoredPage, 'row_count' | 'application_game_ids'> | undefined;
};
export type RecordedPage = {
  /** False for a page that was there already: nothing was written. */
  recorded: boolean;
  listed: number;
  wanted: number;
  invalid: number;
  end: ListingEnd | null;
  /** Where the listing stands with this page, for who asks for the one after it. */
  next: ListCursor;
};

const UNNAMED_REASONS_MAX = 20;

const isPowerOfTwo = (page_num: number): boolean => page_num > 2 && Number.isInteger(Math.log2(page_num));

/**
 * Which games of this page did earlier pages of the run name? The page before is always looked at: games
 * shift by a few while they are listed. All pages are looked at only when there is doubt, that is once the
 * pages held more rows than the application says there are, or this one repeats the one before; and at pages 4, 8,
 * 16 and so on, for a list that goes round in a circle under a `total` that is too large.
 */
const namedBefore = async (
  sql: Database,
  run: RunRow,
  ids: readonly string[],
  previous: ListCursor['previous'],
  rowsSoFar: number,
  total: number,
): Promise<Set<string>> => {
  const onPrevious = new Set(previous?.application_game_ids);
  const seen = new Set(ids.filter((id) => onPrevious.has(id)));
  const doubtful = rowsSoFar > total || seen.size === ids.length || isPowerOfTwo(run.next_page);
  if (!doubtful || ids.length === 0 || previous === undefined) return seen;
  return selectNamedBefore(sql, run.run_id, run.next_page, ids);
};

const fresh = (page: ReadPage, seen: ReadonlySet<string>) => ({
  summaries: page.summaries.filter((summary) => !seen.has(summary.game_id)),
  invalid: page.invalid.filter((row) => !seen.has(row.application_game_id)),
});

/**
 * Record one answered page of a run: what it named, which details are wanted, how the listing stands. One
 * transaction under the run's fence; recording a page twice changes nothing.
 * @returns undefined when the run is not held any more: then nothing was written.
 */
export const recordPage = async (
  sql: Database,
  { application, run, previous }: ListCursor,
  answer: ApplicationGameList,
  pageCap: number,
): Promise<RecordedPage | undefined> => {
  const page_num = run.next_page;
  const page = readPage(answer.list);
  const ids = [
    ...page.summaries.map((summary) => summary.game_id),
    ...page.invalid.map((row) => row.application_game_id),
  ];
  const rows = answer.list.length;
  const seen = await namedBefore(sql, run, ids, previous, run.row_count + rows, answer.total);
  const { summaries, invalid } = fresh(page, seen);
  const listed = summaries.map((summary) => ({
    application_game_id: summary.game_id,
    list_hash: listHash(summary),
  }));
  const named = [
    ...listed,
    ...invalid.map(({ application_game_id }) => ({ application_game_id, list_hash: '' })),
  ];
  const end = listingEnd({
    page_num,
    rows,
    rowsBefore: run.row_count,
    named: ids.length,
    newlyNamed: summaries.length + invalid.length,
    total: answer.total,
    pageSize: PAGE_SIZE_MAX,
    largestPageBefore: run.largest_page,
    previous:
      previous === undefined
        ? null
        : { rows: previous.row_count, newlyNamed: previous.application_game_ids.length },
    pageCap,
  });
  const unnamedReasons = page.unnamed.flatMap((row) => row.reasons).slice(0, UNNAMED_REASONS_MAX);
  const failures = [
    ...invalid.map((row) => ({ ...row, kind: 'invalid_item' })),
    ...(unnamedReasons.length > 0
      ? [{ application_game_id: NO_GAME, kind: 'invalid_item', reasons: unnamedReasons }]
      : []),
  ];
  const newPage = {
    page_num,
    row_count: rows,
    total: answer.total,
    unnamed: page.unnamed.length,
    named,
    listing_end: end,
  };
  const age = { full: run.full, detailMaxAgeMs: application.detail_max_age_ms };
  const record = async (tx: Queryable) => {
    const inserted = await insertPage(tx, run, newPage, age);
    if (inserted?.recorded) await recordFailures(tx, run.application_id, 'query_game_list', failures);
    return inserted;
  };
  // Nearly every page is one statement: a transaction of its own.
  const inserted = failures.length === 0 ? await record(sql) : await sql.begin(record);
  if (inserted === undefined) return undefined;
  return {
    listed: named.length,
    wanted: inserted.wanted,
    invalid: invalid.length + page.unnamed.length,
    end,
    recorded: inserted.recorded,
    next: {
      application,
      run: {
        ...run,
        next_page: page_num + 1,
        listing_end: end,
        row_count: run.row_count + rows,
        largest_page: Math.max(run.largest_page, rows),
      },
      previous: { row_count: rows, application_game_ids: named.map((game) => game.application_game_id) },
    },
  };
};
