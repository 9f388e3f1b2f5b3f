import type { z } from 'zod';
import { caseError, dataOf, FailCase, isSuccess } from '#src/check/case.ts';
import { at, envelopeOf, explainIssue } from '#src/check/explain.ts';
import type { Call, Session } from '#src/check/session.ts';
import { SkipCase } from '#src/check/skip-case.ts';
import {
  type ApplicationGameDetail,
  type ApplicationGameSummary,
  applicationGameDetailSchema,
  applicationGameListSchema,
  applicationGameSummarySchema,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';
import type { Operation } from '#src/contract/words.ts';

const PAGES_MAX = 20;
export const DETAILS_MAX = 10;
/** The fractions of the multiples of the golden ratio are spread without a pattern. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** An identifier that no application uses. */
export const UNKNOWN_GAME = 'app-check-no-such-game-5b1f';

export type Page = { call: Call; total: number; rows: readonly unknown[]; ids: readonly string[] };

export const idOf = (row: unknown): string | undefined => {
  const id = at(row, ['game_id']);
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** The request on which `list.envelope` and `list.shape` are checked. */
const FIRST_PAGE = { page_num: 1, page_size: PAGE_SIZE_MAX };

/**
 * The first page, from the session if it was fetched before.
 * @throws SkipCase if the response is not a list: `list.envelope` or `list.shape` reports it
 */
export const fetchFirstPage = async (session: Session): Promise<Page> =>
  parsePage(await session.call('query_game_list', FIRST_PAGE), 'list.envelope and list.shape');

/**
 * Another page, from the session if it was fetched before.
 * @param reportedBy as in `parsePage`
 * @throws SkipCase if the first page is not a list
 */
export const fetchPage = async (
  session: Session,
  page_num: number,
  page_size: number,
  reportedBy?: string,
): Promise<Page> => {
  await fetchFirstPage(session);
  return parsePage(await session.call('query_game_list', { page_num, page_size }), reportedBy);
};

/** A page that no application has. */
export const FAR_PAGE = 1_000_000;

/** The page on which `list.past-the-end` is checked. @throws SkipCase if the first page is not a list */
export const fetchFarPage = async (session: Session): Promise<Call> => {
  await fetchFirstPage(session);
  return session.call('query_game_list', { page_num: FAR_PAGE, page_size: PAGE_SIZE_MAX });
};

export const isEmptyPage = (call: Call): boolean => {
  const list = at(envelopeOf(call), ['data', 'list']);
  return isSuccess(call) && Array.isArray(list) && list.length === 0;
};

/** Explains what is wrong with `data` of a page. */
const explainList = ({ issues }: z.ZodError, call: Call): string => {
  const response = { data: envelopeOf(call)?.data };
  const inData = issues.map((issue) => ({ ...issue, path: ['data', ...issue.path] }));
  return inData.map((issue) => explainIssue(issue, response, 'data')).join('; ');
};

/**
 * Reads a page.
 * @param reportedBy the cases that report this response if it is not a list; absent: the calling case fails
 * @throws SkipCase or FailCase if it is not a list
 */
export const parsePage = (call: Call, reportedBy?: string): Page => {
  const data = applicationGameListSchema.safeParse(dataOf(call, reportedBy));
  if (!data.success) throw caseError(explainList(data.error, call), call, reportedBy);
  const { total, list } = data.data;
  return { call, total, rows: list, ids: list.map(idOf).filter((id) => id !== undefined) };
};

/**
 * Fetches the pages of the list, up to 20. An application may limit pages to a smaller size, as it may in a run. The end
 * is simpler than in a run: an empty page ends the list, and so does a page that is shorter than the first if the rows so
 * far are at least `total`. So does a page that repeats the one before it.
 *
 * The case that reports a page which is not a list depends on the page. The first page: `list.envelope` or `list.shape`.
 * A page after `total` rows: `list.past-the-end`, unless that case found what it wants, a success with an empty list. Any
 * other page: `reportedBy`, or without it the calling case.
 */
export const fetchPages = async (
  session: Session,
  reportedBy?: string,
): Promise<{ pages: Page[]; isComplete: boolean }> => {
  const pages: Page[] = [];
  let rows = 0;
  for (let page_num = 1; page_num <= PAGES_MAX; page_num += 1) {
    const isPastTheEnd = page_num > 1 && rows >= (pages[0]?.total ?? 0);
    const reporter =
      isPastTheEnd && !isEmptyPage(await fetchFarPage(session)) ? 'list.past-the-end' : reportedBy;
    const page =
      page_num === 1
        ? await fetchFirstPage(session)
        : await fetchPage(session, page_num, PAGE_SIZE_MAX, reporter);
    const isRepeated = page.ids.length > 0 && page.ids.join('\n') === pages.at(-1)?.ids.join('\n');
    if (page_num > 1 && (page.rows.length === 0 || isRepeated)) return { pages, isComplete: true };
    pages.push(page);
    rows += page.rows.length;
    const isShort = page.rows.length < (pages[0]?.rows.length ?? 0);
    if (page.rows.length === 0 || (isShort && rows >= page.total)) return { pages, isComplete: true };
  }
  return { pages, isComplete: false };
};

/** The pages that were read; the first alone if another one is no list, which `list.total` reports. */
export const readPages = async (session: Session): Promise<Page[]> => {
  try {
    return (await fetchPages(session, 'list.total')).pages;
  } catch (error) {
    if (!(error instanceof SkipCase)) throw error;
    return [await fetchFirstPage(session)];
  }
};

/** Page 0, if it has games and no page from 1 has any of them: then the application counts pages from 0. */
export const findPage0 = async (session: Session): Promise<Page | undefined> => {
  const { pages, isComplete } = await fetchPages(session, 'list.total');
  const rows = pages.reduce((sum, page) => sum + page.rows.length, 0);
  if (isComplete && rows >= (pages[0]?.total ?? 0)) return undefined;
  const call = await session.call('query_game_list', { page_num: 0, page_size: PAGE_SIZE_MAX });
  if (!applicationGameListSchema.safeParse(envelopeOf(call)?.data).success || !isSuccess(call))
    return undefined;
  const page = parsePage(call);
  const listed = new Set(pages.flatMap(({ ids }) => ids));
  return page.ids.length > 0 && listed.isDisjointFrom(new Set(page.ids)) ? page : undefined;
};

/** Fetches the details of up to ten games, spread unevenly over the pages that were read. */
export const fetchDetails = async (session: Session): Promise<{ game_id: string; call: Call }[]> => {
  const ids = (await readPages(session)).flatMap((page) => page.ids);
  if (ids.length === 0) throw new SkipCase('no row of the list has a usable game_id');
  const count = Math.min(DETAILS_MAX, ids.length);
  // Even steps would miss what every second row has.
  const places = Array.from({ length: count }, (_, n) => ((n + ((n * GOLDEN) % 1)) * ids.length) / count);
  const chosen = new Set(places.flatMap((place) => ids[Math.floor(place)] ?? []));
  const details = [];
  for (const game_id of chosen) {
    details.push({ game_id, call: await session.call('query_game_detail', { game_id }) });
  }
  return details;
};

/** The rows of a page that fit section 2.4, by their ids. */
export const summariesOf = ({ rows }: Page): Map<string, ApplicationGameSummary> =>
  new Map(
    rows.flatMap((row) => {
      const { data } = applicationGameSummarySchema.safeParse(row);
      return data === undefined ? [] : [[data.game_id, data] as const];
    }),
  );

/** The detail of a response; undefined if it does not fit section 2.5. @throws SkipCase if there is none */
export const detailOf = (call: Call): ApplicationGameDetail | undefined =>
  applicationGameDetailSchema.safeParse(dataOf(call, 'detail.envelope')).data;

/** The first call of a webhook, on which its envelope is checked. */
export const callFirst = async (session: Session, operation: Operation): Promise<Call> => {
  if (operation === 'query_cp_kyc') return session.call(operation, {});
  const list = await session.call('query_game_list', FIRST_PAGE);
  if (operation === 'query_game_list') return list;
  let game_id = UNKNOWN_GAME;
  try {
    game_id = parsePage(list).ids[0] ?? UNKNOWN_GAME;
  } catch (error) {
    if (!(error instanceof FailCase)) throw error;
  }
  return session.call(operation, { game_id });
};
