import { dataOf, SkipCase } from '#src/check/case.ts';
import type { Call, Session } from '#src/check/session.ts';
import { applicationGameListSchema, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import type { Operation } from '#src/contract/words.ts';

/** Where the document describes each webhook. */
export const SECTION: Record<Operation, string> = {
  query_game_list: '4.4',
  query_game_detail: '4.5',
  query_cp_kyc: '4.3',
};

/** At most this many pages are walked, and this many games looked at one by one. */
const PAGES_MAX = 20;
const DETAILS_MAX = 10;

/** An identifier that no application has given out. */
export const UNKNOWN_GAME = 'app-check-no-such-game-5b1f';

export type Listed = { call: Call; total: number; rows: readonly unknown[]; ids: readonly string[] };

const idOf = (row: unknown): string | undefined => {
  const id = (row as { game_id?: unknown } | null | undefined)?.game_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** One page. @throws SkipCase when it is not a list: `list.envelope` or `list.shape` says so */
export const askPage = async (session: Session, page_num: number, page_size: number): Promise<Listed> =>
  readListed(await session.call('query_game_list', { page_num, page_size }));

export const readListed = (call: Call): Listed => {
  const data = applicationGameListSchema.safeParse(dataOf(call));
  if (!data.success) throw new SkipCase('data is not a total and a list: see list.shape');
  const { total, list } = data.data;
  return { call, total, rows: list, ids: list.map(idOf).filter((id) => id !== undefined) };
};

/**
 * All pages, a hundred rows each, as far as 2,000 rows. Like a run, it follows an application's own page size: an
 * empty page ends it, or one shorter than the first when `total` is reached.
 */
export const walkPages = async (session: Session): Promise<{ pages: Listed[]; whole: boolean }> => {
  const pages: Listed[] = [];
  let rows = 0;
  for (let page_num = 1; page_num <= PAGES_MAX; page_num += 1) {
    const page = await askPage(session, page_num, PAGE_SIZE_MAX);
    if (page.rows.length === 0 && page_num > 1) return { pages, whole: true };
    pages.push(page);
    rows += page.rows.length;
    const isShort = page.rows.length < (pages[0]?.rows.length ?? 0);
    if (page.rows.length === 0 || (isShort && rows >= page.total)) return { pages, whole: true };
  }
  return { pages, whole: false };
};

/** The details of up to ten games, from the whole width of the first page. */
export const askDetails = async (session: Session): Promise<{ game_id: string; call: Call }[]> => {
  const { ids } = await askPage(session, 1, PAGE_SIZE_MAX);
  if (ids.length === 0) throw new SkipCase('the application lists no game');
  const step = Math.max(1, Math.floor(ids.length / DETAILS_MAX));
  const chosen = ids.filter((_, index) => index % step === 0).slice(0, DETAILS_MAX);
  const details = [];
  for (const game_id of chosen) {
    details.push({ game_id, call: await session.call('query_game_detail', { game_id }) });
  }
  return details;
};

/** The call that shows whether a webhook answers at all. */
export const askFirst = async (session: Session, operation: Operation): Promise<Call> => {
  if (operation === 'query_cp_kyc') return session.call(operation, {});
  const list = await session.call('query_game_list', { page_num: 1, page_size: PAGE_SIZE_MAX });
  if (operation === 'query_game_list') return list;
  let game_id = UNKNOWN_GAME;
  try {
    game_id = readListed(list).ids[0] ?? UNKNOWN_GAME;
  } catch (error) {
    if (!(error instanceof SkipCase)) throw error;
  }
  return session.call(operation, { game_id });
};
