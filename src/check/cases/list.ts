import { type Case, dataOf, failed, passed, skipped } from '#src/check/case.ts';
import { askFirst, askPage, readListed, walkPages } from '#src/check/cases/asking.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import {
  applicationGameListSchema,
  applicationGameSummarySchema,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';

/** Small enough for two pages of most applications. */
const SMALL = 2;
const FAR_PAGE = 1_000_000;

const shape: Case = {
  name: 'list.shape',
  section: '4.4',
  rule: 'data.total is the total number of games, an integer; data.list is an array.',
  judge: async (session) => {
    const call = await askFirst(session, 'query_game_list');
    const data = applicationGameListSchema.safeParse(dataOf(call));
    if (data.success) return passed;
    const [issue] = data.error.issues;
    return failed(`${['data', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`, call);
  },
};

const pageSize: Case = {
  name: 'list.page-size',
  section: '4.4',
  rule: 'A page holds page_size rows, as long as there are so many.',
  judge: async (session) => {
    const { call, total, rows } = await askPage(session, 1, SMALL);
    const expected = Math.min(SMALL, total);
    return rows.length === expected ? passed : failed(`${rows.length} rows came, not ${expected}`, call);
  },
};

const pageSizeMaximum: Case = {
  name: 'list.page-size-maximum',
  section: '4.4, 8',
  rule: `page_size is at most ${PAGE_SIZE_MAX}: a larger one is refused, or answered with no more rows than that.`,
  judge: async (session) => {
    const call = await session.call('query_game_list', { page_num: 1, page_size: 10 * PAGE_SIZE_MAX });
    const list = (('json' in call.answer ? call.answer.json : null) as { data?: { list?: unknown } } | null)
      ?.data?.list;
    return Array.isArray(list) && list.length > PAGE_SIZE_MAX
      ? failed(`${list.length} rows came`, call)
      : passed;
  },
};

const secondPage: Case = {
  name: 'list.page-2',
  section: '4.4',
  rule: 'page_num is the page: the second one names other games than the first.',
  judge: async (session) => {
    const first = await askPage(session, 1, SMALL);
    if (first.total <= SMALL) return skipped(`it takes more than ${SMALL} games to have a second page`);
    const second = await askPage(session, 2, SMALL);
    if (second.rows.length === 0)
      return failed(`the second page is empty, of ${first.total} games`, second.call);
    const again = second.ids.filter((id) => first.ids.includes(id));
    return again.length === 0 ? passed : failed(`named on both pages: ${again.join(', ')}`, second.call);
  },
};

const defaults: Case = {
  name: 'list.defaults',
  section: '4.4, 8',
  rule: `page_num and page_size are optional: 1 and ${PAGE_SIZE_DEFAULT} when they are absent.`,
  judge: async (session) => {
    const asked = await askPage(session, 1, PAGE_SIZE_DEFAULT);
    const call = await session.call('query_game_list', {});
    const { rows, ids } = readListed(call);
    if (rows.length !== asked.rows.length)
      return failed(`${rows.length} rows came, not ${asked.rows.length}`, call);
    return ids.join('\n') === asked.ids.join('\n')
      ? passed
      : failed('it is not the first page that came', call);
  },
};

const pastTheEnd: Case = {
  name: 'list.past-the-end',
  section: '4.4',
  rule: 'data.list is an empty array [] when there is no data.',
  judge: async (session) => {
    const call = await session.call('query_game_list', { page_num: FAR_PAGE, page_size: PAGE_SIZE_MAX });
    const list = (dataOf(call) as { list?: unknown } | null)?.list;
    return Array.isArray(list) && list.length === 0
      ? passed
      : failed(`page ${FAR_PAGE} is no empty array`, call);
  },
};

const total: Case = {
  name: 'list.total',
  section: '4.4',
  rule: 'data.total is the number of games: the same on every page, and as many as the pages hold.',
  judge: async (session) => {
    const { pages, whole } = await walkPages(session);
    const [first] = pages;
    const other = pages.find((page) => page.total !== first?.total);
    if (other !== undefined)
      return failed(`it says ${other.total}, another page ${first?.total}`, other.call);
    const rows = pages.reduce((sum, page) => sum + page.rows.length, 0);
    const wrong = whole ? rows !== first?.total : rows > (first?.total ?? 0);
    const last = pages.at(-1);
    return wrong && last !== undefined
      ? failed(`it says ${last.total}, the pages hold ${rows}`, last.call)
      : passed;
  },
};

const distinct: Case = {
  name: 'list.distinct',
  section: '2.4',
  rule: 'game_id is the unique identifier of a game: none is named twice.',
  judge: async (session) => {
    const seen = new Set<string>();
    for (const page of (await walkPages(session)).pages) {
      for (const id of page.ids) {
        if (seen.has(id)) return failed(`${id} is named twice`, page.call);
        seen.add(id);
      }
    }
    return passed;
  },
};

const rows = fieldCases(
  'list',
  '2.4',
  applicationGameSummarySchema,
  async (session) => {
    const page = await askPage(session, 1, PAGE_SIZE_MAX);
    return page.rows.map((value, index) => ({ value, call: page.call, where: `list.${index}` }));
  },
  { urls: true },
);

/** game.queryList, section 4.4. */
export const listCases: readonly Case[] = [
  shape,
  ...rows,
  pageSize,
  pageSizeMaximum,
  secondPage,
  defaults,
  pastTheEnd,
  total,
  distinct,
];
