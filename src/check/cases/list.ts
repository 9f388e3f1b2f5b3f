import { type Case, dataOf, failed, judge, passed, skipped } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import {
  callFirst,
  FAR_PAGE,
  fetchFarPage,
  fetchFirstPage,
  fetchPage,
  fetchPages,
  findPage0,
  idOf,
  isEmptyPage,
  parsePage,
  readPages,
} from '#src/check/cases/queries.ts';
import { at, envelopeOf, typeName } from '#src/check/explain.ts';
import { nameSome } from '#src/check/quote.ts';
import type { Session } from '#src/check/session.ts';
import { applicationGameSummarySchema, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '#src/contract/application.ts';

const LIST_SAYS = {
  items: 'rows',
  subject: 'an element of data.list',
  type: ['4.4', 'data.list | array | Game summaries as in section 2.4.'],
  null: ['2.4', 'Empty string when there is no icon.'],
  url: ['2.4', 'Single icon URL.'],
} as const;
const PAGE_NUM = 'page_num | int | no | 1 | Page number.';
const PAGE_SIZE = 'page_size | int | no | 20 | Rows per page. Maximum 100.';
const TOTAL = 'data.total | integer | Total number of games.';

/** Most applications have more games than fit on a page of this size. */
const SMALL_PAGE = 2;

const rowCases = fieldCases('list', applicationGameSummarySchema, LIST_SAYS, async (session) => {
  const pages = await readPages(session);
  return pages.flatMap(({ rows, call }, page) =>
    rows.map((value, index) => {
      const id = idOf(value);
      const place = `list.${index}${page === 0 ? '' : ` (page ${page + 1})`}`;
      return { value, call, name: id === undefined ? place : session.quote(id) };
    }),
  );
});

const ORDER = ': the order of the list changes from call to call';

/** Explains a list whose first games differ on a page of another size; empty for other lists. */
const hintOrder = async (session: Session): Promise<string> => {
  const [large, small] = [await fetchFirstPage(session), await fetchPage(session, 1, PAGE_SIZE_DEFAULT)];
  const begin = small.ids.slice(0, PAGE_SIZE_DEFAULT);
  return begin.some((id, index) => id !== large.ids[index]) ? ORDER : '';
};

/** The application-side game.queryList, section 4.4. */
export const listCases: readonly Case[] = [
  {
    name: 'list.shape',
    section: '4.4',
    quote: TOTAL,
    rule: 'data.total is an integer, and data.list an array.',
    check: async (session) => {
      const call = await callFirst(session, 'query_game_list');
      dataOf(call, 'list.envelope');
      parsePage(call);
      return passed;
    },
  },
  ...rowCases,
  {
    name: 'list.page-size',
    section: '4.4',
    quote: PAGE_SIZE,
    rule: 'A page has page_size rows, or all rows that are left.',
    check: async (session) => {
      const { call, total, rows } = await fetchPage(session, 1, SMALL_PAGE);
      // A total that is too small is reported by list.total.
      const expected = Math.min(SMALL_PAGE, Math.max(total, rows.length));
      const problem = `page_size ${SMALL_PAGE} returns ${rows.length} rows instead of ${expected}: is page_size read from the JSON body?`;
      return judge(rows.length === expected, problem, call);
    },
  },
  {
    name: 'list.page-size-maximum',
    section: '4.4',
    quote: PAGE_SIZE,
    rule: `page_size is at most ${PAGE_SIZE_MAX}: a larger one is refused, or returns at most that many rows.`,
    check: async (session) => {
      const call = await session.call('query_game_list', { page_num: 1, page_size: 10 * PAGE_SIZE_MAX });
      if (call.status === undefined) return skipped('there is no response');
      // A refusal has no rows, and passes.
      const list = 'json' in call.response && at(call.response.json, ['data', 'list']);
      const rows = Array.isArray(list) ? list.length : 0;
      return judge(rows <= PAGE_SIZE_MAX, `page_size ${10 * PAGE_SIZE_MAX} returns ${rows} rows`, call);
    },
  },
  {
    name: 'list.page-1',
    section: '4.4',
    quote: PAGE_NUM,
    rule: 'page_num counts from 1.',
    check: async (session) => {
      const page = await findPage0(session);
      if (page === undefined) return passed;
      const games = nameSome(page.ids.map(session.quote));
      const problem = `page_num 0 has games (${games}) that no page from 1 has`;
      return failed(`the application counts pages from 0: ${problem}`, page.call);
    },
  },
  {
    name: 'list.page-2',
    section: '4.4',
    quote: PAGE_NUM,
    rule: 'page_num selects the page: the second page has other games than the first.',
    check: async (session) => {
      const first = await fetchPage(session, 1, SMALL_PAGE, 'list.page-size');
      if (first.total <= SMALL_PAGE) return skipped(`a second page needs more than ${SMALL_PAGE} games`);
      if (first.rows.length > SMALL_PAGE) return skipped('see list.page-size');
      const second = await fetchPage(session, 2, SMALL_PAGE);
      if (second.rows.length === 0)
        return failed(`page 2 is empty, but total is ${first.total}`, second.call);
      const repeated = second.ids.filter((id) => first.ids.includes(id));
      const problem = `page 2 repeats games of page 1 (${nameSome(repeated.map(session.quote))})`;
      return judge(repeated.length === 0, `${problem}: is page_num read from the JSON body?`, second.call);
    },
  },
  {
    name: 'list.defaults',
    section: '4.4',
    quote: PAGE_SIZE,
    rule: `page_num and page_size are optional: their defaults are 1 and ${PAGE_SIZE_DEFAULT}.`,
    check: async (session) => {
      const expected = await fetchPage(session, 1, PAGE_SIZE_DEFAULT);
      const call = await session.call('query_game_list', {});
      const { rows, ids } = parsePage(call);
      if (rows.length !== expected.rows.length) {
        return failed(`a request of {} returns ${rows.length} rows instead of ${expected.rows.length}`, call);
      }
      return judge(
        ids.join('\n') === expected.ids.join('\n'),
        `a request of {} returns other games than page 1${await hintOrder(session)}`,
        call,
      );
    },
  },
  {
    name: 'list.past-the-end',
    section: '4.4',
    quote: 'Empty array [] when there is no data.',
    rule: 'data.list is an empty array [] on a page after the last one.',
    check: async (session) => {
      const call = await fetchFarPage(session);
      const list = at(dataOf(call), ['list']);
      const came = Array.isArray(list)
        ? `has ${list.length} ${list.length === 1 ? 'row' : 'rows'}`
        : list === undefined
          ? 'is missing'
          : `is ${typeName(list)}`;
      const problem = `data.list ${came} on page ${FAR_PAGE}, and must be an empty array []`;
      return judge(isEmptyPage(call), problem, call);
    },
  },
  {
    name: 'list.total',
    section: '4.4',
    quote: TOTAL,
    rule: 'data.total is the same on every page, and equal to the rows of all pages.',
    check: async (session) => {
      const { pages, isComplete } = await fetchPages(session);
      const [first] = pages;
      const last = pages.at(-1);
      if (first === undefined || last === undefined) return skipped('there is no page');
      const { total } = first;
      if ((await findPage0(session)) !== undefined) return skipped('see list.page-1');
      const small = await session.call('query_game_list', { page_num: 1, page_size: SMALL_PAGE });
      const smallTotal = at(envelopeOf(small)?.data, ['total']);
      if (smallTotal === Math.min(SMALL_PAGE, total) && total === first.rows.length && total > SMALL_PAGE)
        return failed(
          `total is ${smallTotal} with page_size ${SMALL_PAGE}, and ${total} with page_size ${PAGE_SIZE_MAX}: it is the number of all games, not of the page`,
          small,
        );
      const other = pages.find((page) => page.total !== total);
      if (other !== undefined)
        return failed(
          `total is ${other.total} on page ${pages.indexOf(other) + 1}, but ${total} on page 1`,
          other.call,
        );
      const rows = pages.reduce((sum, page) => sum + page.rows.length, 0);
      // Of a long list, only the first pages were read.
      const isRight = isComplete ? rows === total : rows <= total;
      return judge(isRight, `total is ${total}, but the pages have ${rows} rows`, last.call);
    },
  },
  {
    name: 'list.distinct',
    section: '2.4',
    quote: 'Unique game identifier.',
    rule: 'The list has each game_id once.',
    check: async (session) => {
      const { pages } = await fetchPages(session, 'list.total');
      const ids = pages.flatMap((page) => page.ids);
      const twice = [...Map.groupBy(ids, (id) => id)].flatMap(([id, { length }]) => (length > 1 ? [id] : []));
      const last = pages.findLast((page) => page.ids.some((id) => id === twice[0]));
      if (last === undefined) return passed;
      const names = nameSome(twice.map(session.quote));
      const games = twice.length === 1 ? '1 game is' : `${twice.length} games are`;
      return failed(`${games} listed twice: ${names}${await hintOrder(session)}`, last.call);
    },
  },
];
