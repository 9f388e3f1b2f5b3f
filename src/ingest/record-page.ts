import type { Database, Queryable } from '#db/client.ts';
import { type ComparedGames, compareGames } from '#db/queries/compare-games.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import { insertPages, type NewPage, restoreGames, selectNamedBefore } from '#db/queries/run-pages.ts';
import type { CalledApplication, StoredPage } from '#db/queries/run-steps.ts';
import type { RunRow, UnchangedListing } from '#db/queries/runs.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { ROW_MS, STORAGE } from '#src/rules/budgets.ts';
import { listingEnd, type ReadPage, readPage, UNNAMED_REASONS_MAX } from '#src/rules/listing.ts';
import { listHash } from '#src/rules/mapping.ts';
import { pageBytes } from '#src/rules/run-budget.ts';
import { createStopwatch, type ProcessPace } from '#src/webhooks/pace.ts';
import { isTurnSpent, takeEventLoopTurn } from '#src/webhooks/turns.ts';

type PreviousPage = Pick<StoredPage, 'kind' | 'reason' | 'row_count' | 'application_game_ids'>;

/** Where a listing stands: its run as it is once `unrecorded` is recorded, and the page before its next one. */
export type ListCursor = {
  application: CalledApplication;
  run: RunRow;
  previous: PreviousPage | undefined;
  /** Pages that were compared and are not recorded yet. */
  unrecorded: readonly ComparedPage[];
};

export type Unrecorded = Pick<ListCursor, 'run' | 'unrecorded'>;

/** A page that was compared with the database. */
export type ComparedPage = NewPage &
  Pick<ComparedGames, 'absent' | 'resolved'> & {
    /** Rows that are invalid. */
    failures: Failure[];
  };

/** Up to this page each doubt is checked; beyond it only at powers of two, so that the cost of a listing stays linear. */
const EXACT_PAGES = 64;

const isPowerOfTwo = (page_num: number): boolean => page_num > 2 && Number.isInteger(Math.log2(page_num));

/**
 * The games of this page that earlier pages of the run named. The page before is always compared, because games shift
 * by a few while they are listed. Of the first 64 pages, all before are compared when the rows exceed `total`, or the page
 * before is unread or repeated whole; and at pages 4, 8, 16 and so on, for a list that starts again while its `total` is
 * too large.
 */
const findNamedBefore = async (
  sql: Database,
  { run, previous, unrecorded }: ListCursor,
  ids: readonly string[],
  hasSurplusRows: boolean,
): Promise<ReadonlySet<string>> => {
  const onPrevious = new Set(previous?.application_game_ids);
  const repeated = new Set(ids.filter((id) => onPrevious.has(id)));
  const isAfterUnread = previous?.kind === 'unread';
  const isDoubtful =
    isPowerOfTwo(run.next_page) ||
    (run.next_page <= EXACT_PAGES && (hasSurplusRows || isAfterUnread || repeated.size === ids.length));
  if (!isDoubtful || ids.length === 0 || previous === undefined) return repeated;
  const ofThisJob = new Set(unrecorded.flatMap((page) => page.application_game_ids));
  const named = new Set(ids.filter((id) => ofThisJob.has(id)));
  const firstUnrecorded = unrecorded[0]?.page_num ?? run.next_page;
  if (firstUnrecorded === 1) return named;
  return named.union(await selectNamedBefore(sql, run.run_id, firstUnrecorded, ids));
};

/** Validates the rows of a page in turns of the event loop, and charges the application for them. */
const readRows = async (
  pace: ProcessPace,
  applicationId: string,
  rows: ApplicationGameList['list'],
): Promise<ReadPage> => {
  await takeEventLoopTurn();
  const watch = createStopwatch();
  watch.start();
  const pause = async () => {
    watch.stop();
    await takeEventLoopTurn();
    watch.start();
  };
  const page = await readPage(rows, isTurnSpent, pause);
  watch.stop();
  pace.charge(applicationId, { bytes: 0, ms: watch.ms() + rows.length * ROW_MS });
  return page;
};

/**
 * Validates a page of a run, and compares its games with what is stored. It writes nothing; `recordPages` does.
 * @returns the cursor after the page
 */
export const comparePage = async (
  deps: { sql: Database; pace: ProcessPace; pageCap: number },
  cursor: ListCursor,
  response: ApplicationGameList,
): Promise<ListCursor> => {
  const { sql, pageCap } = deps;
  const { application, run, previous } = cursor;
  const page_num = run.next_page;
  const rows = response.list.length;
  const page = await readRows(deps.pace, application.application_id, response.list);
  const ids = [
    ...page.summaries.map(({ game_id }) => game_id),
    ...page.invalid.map(({ application_game_id }) => application_game_id),
  ];
  const before = await findNamedBefore(sql, cursor, ids, run.row_count + rows > response.total);
  const invalid = page.invalid.filter(({ application_game_id }) => !before.has(application_game_id));
  const rule = identityRule(application.volatile_parameters);
  const named = [
    ...page.summaries
      .filter(({ game_id }) => !before.has(game_id))
      .map((summary) => ({ application_game_id: summary.game_id, list_hash: listHash(summary, rule) })),
    ...invalid.map(({ application_game_id }) => ({ application_game_id, list_hash: '' })),
  ];
  const application_game_ids = named.map((game) => game.application_game_id);
  const listed_bytes = run.listed_bytes + pageBytes(rows, application_game_ids);
  const endOfPages = listingEnd({
    page_num,
    rows,
    rowsBefore: run.row_count,
    named: ids.length,
    newlyNamed: named.length,
    total: response.total,
    pageSize: PAGE_SIZE_MAX,
    largestPageBefore: run.largest_page,
    previous:
      previous === undefined || previous.kind === 'unread'
        ? null
        : { rows: previous.row_count, newlyNamed: previous.application_game_ids.length },
    pageCap,
  });
  const failures = invalid.map((row) => ({ ...row, kind: 'invalid_item' }));
  const reasons = page.unnamed
    .flatMap((row) => row.reasons)
    .slice(0, UNNAMED_REASONS_MAX)
    .map((reason) => ({ ...reason, page: page_num }));
  if (reasons.length > 0) failures.push({ application_game_id: NO_GAME, kind: 'invalid_item', reasons });
  const unnamed = page.unnamed.length;
  const compared = await compareGames(sql, application.application_id, named, {
    full: run.full,
    startedAt: run.started_at,
    everyMs: application.every_ms,
  });
  const newPage: ComparedPage = {
    ...compared,
    page_num,
    row_count: rows,
    total: response.total,
    unnamed,
    application_game_ids,
    listed: named.length + unnamed,
    invalid: compared.invalid + unnamed,
    listed_bytes: listed_bytes - run.listed_bytes,
    failures,
  };
  return {
    application,
    run: {
      ...run,
      next_page: page_num + 1,
      listing_end: endOfPages ?? (listed_bytes > STORAGE.listedBytes ? 'page_cap' : null),
      row_count: run.row_count + rows,
      listed_bytes,
      largest_page: Math.max(run.largest_page, rows),
    },
    previous: { kind: 'listed', reason: null, row_count: rows, application_game_ids },
    unrecorded: [...cursor.unrecorded, newPage],
  };
};

/**
 * Records the pages of a run that were compared: the games they named, the details that are wanted, where the listing
 * stands. In the transaction of the caller, under the run's fence; recording a page twice changes nothing.
 * @returns the run; undefined when the fence is stale or another job has recorded the first page; nothing was then written
 */
export const recordPages = async (
  tx: Queryable,
  { run, unrecorded }: Unrecorded,
): Promise<RunRow | undefined> => {
  const pages = unrecorded.map(({ absent: _, resolved: __, failures: ___, ...page }) => page);
  const moved = await insertPages(tx, run, pages, run.listing_end);
  if (moved === undefined) return undefined;
  const absent = unrecorded.flatMap((page) => page.absent);
  await restoreGames(tx, absent);
  const resolved = unrecorded.flatMap((page) => page.resolved);
  await clearFailures(tx, run.application_id, 'query_game_list', resolved);
  for (const { failures } of unrecorded)
    await recordFailures(tx, run.application_id, 'query_game_list', failures, run.started_at);
  return moved;
};

/** Does `recordPages` write more than the pages? Then it needs a transaction; one statement does not. */
const writesMore = ({ absent, resolved, failures }: ComparedPage): boolean =>
  absent.length + resolved.length + failures.length > 0;

/**
 * Records the pages of a cursor, if it has any.
 * @returns false when the fence is stale or another job has recorded the first page
 */
export const recordAll = async (sql: Database, cursor: Unrecorded): Promise<boolean> => {
  const { unrecorded } = cursor;
  if (unrecorded.length === 0) return true;
  const record = (tx: Queryable) => recordPages(tx, cursor);
  return (await (unrecorded.some(writesMore) ? sql.begin(record) : record(sql))) !== undefined;
};

/**
 * Finds out whether a whole listing found nothing to do: each row named a game of its own whose list entry is the stored
 * one, and each page counted as many games as were named.
 */
export const findUnchanged = ({ run, unrecorded }: Unrecorded): UnchangedListing | undefined => {
  const { row_count: listed, next_page, largest_page, listed_bytes, listing_end } = run;
  const isUnchanged = (page: ComparedPage) =>
    page.unchanged === page.row_count && page.total === listed && !writesMore(page);
  // An empty page is followed by no other.
  const isWhole =
    unrecorded[0]?.page_num === 1 && unrecorded.slice(0, -1).every((page) => page.row_count > 0);
  if (listing_end !== 'complete' || !isWhole || !unrecorded.every(isUnchanged)) return undefined;
  // A game that moved may be on two pages that do not follow each other, and another one is then missing.
  if (new Set(unrecorded.flatMap((page) => page.application_game_ids)).size < listed) return undefined;
  return { listed, next_page, largest_page, listed_bytes };
};
