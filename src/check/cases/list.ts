import { type Case, dataOf, failed, judge, passed, skipped } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import {
  callFirst,
  FAR_PAGE,
  fetchFarPage,
  fetchFirstPage,
  fetchPage,
  fetchPages,
  isEmptyPage,
  parsePage,
} from '#src/check/cases/queries.ts';
import {
  applicationGameListSchema,
  applicationGameSummarySchema,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';

/** Most applications have more games than fit on a page of this size. */
const SMALL_PAGE = 2;

const rowCases = fieldCases('list', '2.4', applicationGameSummarySchema, async (session) => {
  const page = await fetchFirstPage(session);
  return page.rows.map((value, index) => ({ value, call: page.call, where: `list.${index}` }));
});

/** The application-side game.queryList, section 4.4. */
export const listCases: readonly Case[] = [
  {
    name: 'list.shape',
    section: '4.4',
    rule: 'data.total is the total number of games, an integer; data.list is an array.',
    check: async (session) => {
      const call = await callFirst(session, 'query_game_list');
      const data = applicationGameListSchema.safeParse(dataOf(call, 'list.envelope'));
      if (data.success) return passed;
      const [issue] = data.error.issues;
      return failed(`${['data', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`, call);
    },
  },
  ...rowCases,
  {
    name: 'list.page-size',
    section: '4.4',
    rule: 'A page has page_size rows, or all rows that are left.',
    check: async (session) => {
      const { call, total, rows } = await fetchPage(session, 1, SMALL_PAGE);
      const expected = Math.min(SMALL_PAGE, total);
      return judge(rows.length === expected, `the page has ${rows.length} rows instead of ${expected}`, call);
    },
  },
  {
    name: 'list.page-size-maximum',
    section: '4.4, 8',
    rule: `page_size is at most ${PAGE_SIZE_MAX}: a larger one is refused, or returns at most that many rows.`,
    check: async (session) => {
      const call = await session.call('query_game_list', { page_num: 1, page_size: 10 * PAGE_SIZE_MAX });
      if (call.status === undefined) return skipped('there is no response');
      // A refusal has no rows, and passes.
      const json = 'json' in call.response ? call.response.json : null;
      const list = (json as { data?: { list?: unknown } } | null)?.data?.list;
      const rows = Array.isArray(list) ? list.length : 0;
      return judge(rows <= PAGE_SIZE_MAX, `the page has ${rows} rows`, call);
    },
  },
  {
    name: 'list.page-2',
    section: '4.4',
    rule: 'page_num selects the page: the second page has other games than the first.',
    check: async (session) => {
      const first = await fetchPage(session, 1, SMALL_PAGE, 'list.page-size');
      if (first.total <= SMALL_PAGE) return skipped(`a second page needs more than ${SMALL_PAGE} games`);
      const second = await fetchPage(session, 2, SMALL_PAGE);
      if (second.rows.length === 0)
        return failed(`the second page is empty, but total is ${first.total}`, second.call);
      const repeated = second.ids.filter((id) => first.ids.includes(id));
      return judge(repeated.length === 0, `on both pages: ${repeated.join(', ')}`, second.call);
    },
  },
  {
    name: 'list.defaults',
    section: '4.4, 8',
    rule: `page_num and page_size are optional: their defaults are 1 and ${PAGE_SIZE_DEFAULT}.`,
    check: async (session) => {
      const expected = await fetchPage(session, 1, PAGE_SIZE_DEFAULT);
      const call = await session.call('query_game_list', {});
      const { rows, ids } = parsePage(call);
      if (rows.length !== expected.rows.length) {
        return failed(`the page has ${rows.length} rows instead of ${expected.rows.length}`, call);
      }
      return judge(ids.join('\n') === expected.ids.join('\n'), 'the games are not those of page 1', call);
    },
  },
  {
    name: 'list.past-the-end',
    section: '4.4',
    rule: 'data.list is an empty array [] if there is no data.',
    check: async (session) => {
      const call = await fetchFarPage(session);
      dataOf(call);
      return judge(isEmptyPage(call), `page ${FAR_PAGE} is not an empty array`, call);
    },
  },
  {
    name: 'list.total',
    section: '4.4',
    rule: 'data.total is the number of games: the same on every page, and equal to the rows of all pages.',
    check: async (session) => {
      const { pages, isComplete } = await fetchPages(session);
      const [first] = pages;
      const last = pages.at(-1);
      if (first === undefined || last === undefined) return skipped('there is no page');
      const { total } = first;
      const other = pages.find((page) => page.total !== total);
      if (other !== undefined) return failed(`total is ${other.total}, but ${total} on page 1`, other.call);
      const rows = pages.reduce((sum, page) => sum + page.rows.length, 0);
      // Of a long list, only the first pages were read.
      const isRight = isComplete ? rows === total : rows <= total;
      return judge(isRight, `total is ${total}, but the pages have ${rows} rows`, last.call);
    },
  },
  {
    name: 'list.distinct',
    section: '2.4',
    rule: 'game_id is the unique identifier of a game: the list has each once.',
    check: async (session) => {
      const seen = new Set<string>();
      for (const page of (await fetchPages(session, 'list.total')).pages) {
        for (const id of page.ids) {
          if (seen.has(id)) return failed(`${id} is listed twice`, page.call);
          seen.add(id);
        }
      }
      return passed;
    },
  },
];
