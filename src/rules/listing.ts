import { type ApplicationGameSummary, applicationGameSummarySchema } from '#src/contract/application.ts';
import { type Reason, reasonsOf } from '#src/contract/reasons.ts';
import { identifier } from '#src/contract/text.ts';
import type { ListingEnd } from '#src/contract/words.ts';

/** One page of a list, row by row. */
export type ReadPage = {
  /** Valid rows, each game once. */
  summaries: ApplicationGameSummary[];
  /** Rows that name a game and break a rule. */
  invalid: { application_game_id: string; reasons: Reason[] }[];
  /** Rows without a usable `game_id`, with the row's place on the page in each path. */
  unnamed: { reasons: Reason[] }[];
};

/**
 * Read the rows of data.list[] one by one (section 2.4): one bad row never costs the others. A game named
 * twice on a page counts once, as its first valid row says.
 */
export const readPage = (rows: readonly unknown[]): ReadPage => {
  const summaries = new Map<string, ApplicationGameSummary>();
  const invalid = new Map<string, Reason[]>();
  const unnamed: ReadPage['unnamed'] = [];
  rows.forEach((row, index) => {
    const parsed = applicationGameSummarySchema.safeParse(row);
    if (parsed.success) {
      if (!summaries.has(parsed.data.game_id)) summaries.set(parsed.data.game_id, parsed.data);
      return;
    }
    const reasons = reasonsOf(parsed.error);
    const named = identifier.safeParse((row as { game_id?: unknown } | null | undefined)?.game_id);
    if (named.success) invalid.set(named.data, reasons);
    else
      unnamed.push({
        reasons: reasons.map(({ path, code }) => ({
          path: path === '' ? `list.${index}` : `list.${index}.${path}`,
          code,
        })),
      });
  });
  for (const game_id of summaries.keys()) invalid.delete(game_id);
  return {
    summaries: [...summaries.values()],
    invalid: [...invalid].map(([application_game_id, reasons]) => ({ application_game_id, reasons })),
    unnamed,
  };
};

export type PageFacts = {
  page_num: number;
  /** Rows on this page, and on the pages before it. */
  rows: number;
  rowsBefore: number;
  /** Games this page names, and those among them that no earlier page of the run named. */
  named: number;
  newlyNamed: number;
  /** data.total of this page. */
  total: number;
  /** Rows asked for, and the most rows any earlier page of this run held (0 on the first). */
  pageSize: number;
  largestPageBefore: number;
  /** The page before this one: its rows, and the games it named first. Null on the first page. */
  previous: { rows: number; newlyNamed: number } | null;
  pageCap: number;
};

/**
 * Does this page end the listing (design, section 4, step 5; decision 18)?
 *
 * - An empty page ends it, unless `total` says that more remain: then one page further is asked for, and a
 *   second empty one ends it. A hiccup in the middle must not look like the end.
 * - A page that names games, but none that is new, repeats: the application ignores `page_num`. So do two
 *   pages in a row that name none at all. A short page that repeats after as many rows as `total` says is a
 *   small catalogue without paging: complete.
 * - `total` reached ends it when the page confirms it by being shorter than one before it, and than asked
 *   for. A first page confirms nothing: an application with a limit of its own may give its size as `total`.
 *   A `total` already passed was wrong, and is not believed again.
 * - A cap bounds it whatever the application says.
 */
export const listingEnd = (page: PageFacts): ListingEnd | null => {
  if (page.rows === 0) {
    const moreClaimed = page.rowsBefore < page.total;
    if (!moreClaimed || page.previous?.rows === 0) return 'complete';
  } else {
    if (page.newlyNamed === 0 && (page.named > 0 || page.previous?.newlyNamed === 0)) {
      const small = page.rows < page.pageSize && page.rowsBefore === page.total;
      return small ? 'complete' : 'repeated';
    }
    const short = page.rows < Math.min(page.pageSize, page.largestPageBefore);
    if (short && page.rowsBefore + page.rows === page.total) return 'complete';
  }
  return page.page_num >= page.pageCap ? 'page_cap' : null;
};
