import { type Case, dataOf, failed, judge, passed } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import {
  callFirst,
  detailOf,
  fetchDetails,
  readPages,
  summariesOf,
  UNKNOWN_GAME,
} from '#src/check/cases/queries.ts';
import { at, envelopeOf, typeName, whyNoData } from '#src/check/explain.ts';
import { nameSome } from '#src/check/quote.ts';
import { applicationGameDetailSchema } from '#src/contract/application.ts';
import { compareAddresses } from '#src/rules/address-identity.ts';

/** The cases that report a detail without data. */
const REPORTED_BY = 'detail.envelope and detail.listed-game';

const SAYS = {
  items: 'details',
  subject: 'data',
  type: ['4.5', 'data is the object of section 2.5.'],
  null: ['2.5', 'Empty string when there is no video.'],
  url: ['2.5', 'Icon URLs.'],
} as const;
const REQUEST = 'A game_id as returned by the application-side game.queryList.';

const fields = fieldCases('detail', applicationGameDetailSchema, SAYS, async (session) =>
  (await fetchDetails(session)).flatMap(({ game_id, call }) => {
    const value = dataOf(call, REPORTED_BY);
    return value === null ? [] : [{ value, call, name: session.quote(game_id) }];
  }),
);

/** The application-side game.queryDetail, section 4.5. */
export const detailCases: readonly Case[] = [
  {
    name: 'detail.listed-game',
    section: '4.5',
    quote: REQUEST,
    rule: 'Every game_id of game.queryList has a detail.',
    check: async (session) => {
      for (const [index, { game_id, call }] of (await fetchDetails(session)).entries()) {
        if (dataOf(call, index === 0 ? 'detail.envelope' : undefined) === null)
          return failed(`${session.quote(game_id)} is listed, and its data is null`, call);
      }
      return passed;
    },
  },
  {
    name: 'detail.same-game',
    section: '4.5',
    quote: REQUEST,
    rule: 'The detail has the game_id of the request.',
    check: async (session) => {
      for (const { game_id, call } of await fetchDetails(session)) {
        const id = at(dataOf(call, REPORTED_BY), ['game_id']);
        if (typeof id === 'string' && id !== game_id)
          return failed(
            `the request is for ${session.quote(game_id)}, and data is the detail of ${session.quote(id)}`,
            call,
          );
      }
      return passed;
    },
  },
  ...fields,
  {
    name: 'detail.as-listed',
    section: null,
    rule: 'A game has the same name in the list and in its detail. The platform shows the name and the icons of the detail.',
    check: async (session) => {
      // Of a game on two pages, the first one counts.
      const pages = (await readPages(session)).toReversed();
      const listed = new Map(pages.flatMap((page) => [...summariesOf(page)]));
      const games = (await fetchDetails(session)).flatMap(({ game_id, call }) => {
        const [summary, detail] = [listed.get(game_id), detailOf(call)];
        return summary === undefined || detail === undefined ? [] : [{ summary, detail, call }];
      });
      const say = (those: typeof games) =>
        `${those.length} of ${games.length} games (${nameSome(those.map(({ detail }) => session.quote(detail.game_id)))})`;
      const renamed = games.filter(({ summary, detail }) => summary.game_name !== detail.game_name);
      const [first] = renamed;
      if (first !== undefined)
        return failed(`the list has another game_name than the detail: ${say(renamed)}`, first.call);
      const { rule } = session.target;
      const isSame = (one: string, other: string): boolean =>
        ['same', 'signature'].includes(compareAddresses(one, other, rule).kind);
      const others = games.filter(
        ({ summary: { game_icon: icon }, detail: { game_icon: icons } }) =>
          icons.length > 0 && !icons.some((each) => isSame(each, icon)),
      );
      if (others.length === 0) return passed;
      const note = `the icon of the list is none of game_icon in the detail, which players see: ${say(others)}`;
      return { outcome: 'passed', note };
    },
  },
  {
    name: 'detail.unknown-game',
    section: '4.5',
    quote: 'data is null when there is no data.',
    rule: 'The answer for an unknown game is a success without data.',
    check: async (session) => {
      dataOf(await callFirst(session, 'query_game_detail'), 'detail.envelope');
      const call = await session.call('query_game_detail', { game_id: UNKNOWN_GAME });
      const unknown = 'for a game that does not exist: send';
      const problem = whyNoData(call);
      if (problem !== undefined) return failed(`${problem} ${unknown} ret_code 0 and data null`, call);
      const data = envelopeOf(call)?.data;
      const isList = at(data, ['list']) !== undefined;
      const swapped = isList ? ', or is this the address of query_game_list?' : '';
      return judge(data === null, `data is ${typeName(data)} ${unknown} null${swapped}`, call);
    },
  },
];
