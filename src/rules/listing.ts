import { type ApplicationGameSummary, applicationGameSummarySchema } from '#src/contract/application.ts';
import { formatPlace } from '#src/contract/format-reasons.ts';
import { identifier, type Reason, reasonsOf } from '#src/contract/text.ts';
import type { ListingEnd } from '#src/contract/words.ts';

/** One page of a list, row by row. */
export type ReadPage = {
  /** Valid rows, each game once. */
  summaries: ApplicationGameSummary[];
  /** Games that only invalid rows name, each once, with the reasons of its last row. */
  invalid: { application_game_id: string; reasons: Reason[] }[];
  /** Rows without a usable `game_id`; paths begin with `list.<index of the row>`. */
  unnamed: { reasons: Reason[] }[];
};

/** Reasons of unnamed rows that are kept of a run. */
export const UNNAMED_REASONS_MAX = 20;

/** The rows that reasons of unnamed rows are about: `list.3 (page 2)` for `list.3.game_id` of page 2. */
export const rowsOf = (reasons: readonly Reason[]): string[] => [
  ...new Set(
    reasons.flatMap(({ path, page }) => {
      const row = /^list\.\d+/.exec(path)?.[0];
      return row === undefined ? [] : [formatPlace({ path: row, page })];
    }),
  ),
];

/**
 * Reads the rows of data.list[] one by one (section 2.4), so that an invalid row does not affect the others. The first
 * valid row of a game counts.
 * @param isPauseDue called before each row, because a thousand hostile rows take too long for one turn of the event loop
 */
export const readPage = async (
  rows: readonly unknown[],
  isPauseDue = () => false,
  pause = async () => {},
): Promise<ReadPage> => {
  const summaries = new Map<string, ApplicationGameSummary>();
  const invalid = new Map<string, Reason[]>();
  const unnamed: ReadPage['unnamed'] = [];
  for (const [index, row] of rows.entries()) {
    if (isPauseDue()) await pause();
    const parsed = applicationGameSummarySchema.safeParse(row);
    if (parsed.success) {
      if (!summaries.has(parsed.data.game_id)) summaries.set(parsed.data.game_id, parsed.data);
      continue;
    }
    const reasons = reasonsOf(parsed.error);
    const named = identifier.safeParse((row as { game_id?: unknown } | null | undefined)?.game_id);
    if (named.success) invalid.set(named.data, reasons);
    else {
      const inRow = (path: string): string => (path === '' ? `list.${index}` : `list.${index}.${path}`);
      unnamed.push({ reasons: reasons.map(({ path, code }) => ({ path: inRow(path), code })) });
    }
  }
  for (const game_id of summaries.keys()) invalid.delete(game_id);
  return {
    summaries: [...summaries.values()],
    invalid: [...invalid].map(([application_game_id, reasons]) => ({ application_game_id, reasons })),
    unnamed,
  };
};

export type PageFacts = {
  page_num: number;
  /** Rows on this page. */
  rows: number;
  /** Rows on the pages before it. */
  rowsBefore: number;
  /** Games that this page names. */
  named: number;
  /** Those among them that were not found on earlier pages (`findNamedBefore`). */
  newlyNamed: number;
  /** data.total of this page. */
  total: number;
  /** Rows requested. */
  pageSize: number;
  /** The most rows of an earlier page; 0 on the first. */
  largestPageBefore: number;
  /** The page before this one. Null on the first page, and after an unread page. */
  previous: { rows: number; newlyNamed: number } | null;
  pageCap: number;
};

/**
 * Decides how this page ends the listing; null if it does not (docs/architecture.md, "A run", step 4).
 *
 * - An empty page ends it, unless `total` is larger than the rows so far: then a second empty page ends it.
 * - A page that names games, none of them new, ends it. So does a page whose rows name no game at all, after an empty page
 *   or another such page. If the rows before this page are exactly `total`, the list is complete: the application returns
 *   its last page again for every later `page_num`. Otherwise the page is a repetition: the application ignores `page_num`.
 * - A page that is shorter than requested, and shorter than an earlier page, ends it if the rows so far are exactly
 *   `total`. The first page never does, because an application with a smaller page limit may give that limit as `total`.
 * - The page cap ends it in any case.
 */
export const listingEnd = (page: PageFacts): ListingEnd | null => {
  const { rows, rowsBefore, total, previous } = page;
  if (rows === 0 && (rowsBefore >= total || previous?.rows === 0)) return 'complete';
  const namesNothingNew = page.newlyNamed === 0 && (page.named > 0 || previous?.newlyNamed === 0);
  if (rows > 0 && namesNothingNew) return rowsBefore === total ? 'complete' : 'repeated';
  const isShort = rows < Math.min(page.pageSize, page.largestPageBefore);
  if (isShort && rowsBefore + rows === total) return 'complete';
  return page.page_num >= page.pageCap ? 'page_cap' : null;
};
