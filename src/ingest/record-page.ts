import type { Database, Queryable } from '#db/client.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { insertPage, selectNamedBefore } from '#db/queries/run-pages.ts';
import type { CalledApplication, StoredPage } from '#db/queries/run-steps.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { type ListingEnd, NO_GAME } from '#src/contract/words.ts';
import type { JobDependencies } from '#src/ingest/dependencies.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { ROW_MS, STORAGE } from '#src/rules/budgets.ts';
import { listingEnd, type ReadPage, readPage } from '#src/rules/listing.ts';
import { listHash } from '#src/rules/mapping.ts';
import { pageBytes } from '#src/rules/run-budget.ts';
import { createStopwatch, type ProcessPace } from '#src/webhooks/pace.ts';
import { isTurnSpent, takeEventLoopTurn } from '#src/webhooks/turns.ts';

type PreviousPage = Pick<StoredPage, 'kind' | 'reason' | 'row_count' | 'application_game_ids'>;

/** Where a listing stands: its run, which names the next page, and the page before that. */
export type ListCursor = {
  application: CalledApplication;
  run: RunRow;
  previous: PreviousPage | undefined;
};

export type RecordedPage = {
  /** False when the page was recorded before: nothing was written. */
  recorded: boolean;
  listed: number;
  wanted: number;
  invalid: number;
  end: ListingEnd | null;
  /** The cursor of the page after this one. */
  next: ListCursor;
};

const UNNAMED_REASONS_MAX = 20;

/** Up to this page every doubt is checked. Beyond it only at powers of two: the cost of a listing stays linear. */
const EXACT_PAGES = 64;

const isPowerOfTwo = (page_num: number): boolean => page_num > 2 && Number.isInteger(Math.log2(page_num));

/**
 * The games of this page that earlier pages of the run named. The page before is always compared, because games shift
 * by a few while they are listed. Of the first 64 pages, all before are compared when the rows exceed `total` or this
 * page repeats the one before; and at pages 4, 8, 16 and so on, for a list that starts again while its `total` is too
 * large.
 */
const findNamedBefore = async (
  sql: Database,
  { run, previous }: ListCursor,
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
  return selectNamedBefore(sql, run.run_id, run.next_page, ids);
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
 * Records one page of a run: the games it named, the details that are wanted, where the listing stands. One transaction
 * under the run's fence; recording a page twice changes nothing.
 * @returns undefined when the fence is stale: then nothing was written
 */
export const recordPage = async (
  deps: Pick<JobDependencies, 'sql' | 'pace' | 'pageCap'>,
  cursor: ListCursor,
  response: ApplicationGameList,
): Promise<RecordedPage | undefined> => {
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
  const listed_bytes = pageBytes(
    rows,
    named.map((game) => game.application_game_id),
  );
  const isOverBudget = run.listed_bytes + listed_bytes > STORAGE.listedBytes;
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
  const end = endOfPages ?? (isOverBudget ? 'page_cap' : null);
  const failures = invalid.map((row) => ({ ...row, kind: 'invalid_item' }));
  const reasons = page.unnamed.flatMap((row) => row.reasons).slice(0, UNNAMED_REASONS_MAX);
  if (reasons.length > 0) failures.push({ application_game_id: NO_GAME, kind: 'invalid_item', reasons });
  const unnamed = page.unnamed.length;
  const newPage = {
    page_num,
    row_count: rows,
    total: response.total,
    unnamed,
    named,
    listed_bytes,
    listing_end: end,
  };
  const age = {
    full: run.full,
    detailMaxAgeMs: application.detail_max_age_ms,
    everyMs: application.every_ms,
  };
  const record = async (tx: Queryable) => {
    const inserted = await insertPage(tx, run, newPage, age);
    if (inserted?.recorded) await recordFailures(tx, run.application_id, 'query_game_list', failures);
    return inserted;
  };
  // Without failures a page is one statement, which needs no transaction around it.
  const inserted = failures.length === 0 ? await record(sql) : await sql.begin(record);
  if (inserted === undefined) return undefined;
  const next = {
    ...run,
    next_page: page_num + 1,
    listing_end: end,
    row_count: run.row_count + rows,
    listed_bytes: run.listed_bytes + listed_bytes,
    largest_page: Math.max(run.largest_page, rows),
  };
  const application_game_ids = named.map((game) => game.application_game_id);
  return {
    ...inserted,
    listed: named.length,
    invalid: invalid.length + unnamed,
    end,
    next: {
      application,
      run: next,
      previous: { kind: 'listed', reason: null, row_count: rows, application_game_ids },
    },
  };
};
