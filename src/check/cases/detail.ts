import { type Case, dataOf, envelopeOf, failed, isSuccess, judge, passed, skipped } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import { fetchDetails, UNKNOWN_GAME } from '#src/check/cases/queries.ts';
import { applicationGameDetailSchema } from '#src/contract/application.ts';

/** The cases that report a detail without data. */
const REPORTED_BY = 'detail.envelope and detail.listed-game';

const fields = fieldCases('detail', '2.5', applicationGameDetailSchema, async (session) =>
  (await fetchDetails(session)).flatMap(({ call }) => {
    const value = dataOf(call, REPORTED_BY);
    return value === null ? [] : [{ value, call, where: 'data' }];
  }),
);

/** The application-side game.queryDetail, section 4.5. */
export const detailCases: readonly Case[] = [
  {
    name: 'detail.listed-game',
    section: '4.5',
    rule: 'Every game_id of game.queryList has a detail.',
    check: async (session) => {
      for (const [index, { game_id, call }] of (await fetchDetails(session)).entries()) {
        if (dataOf(call, index === 0 ? 'detail.envelope' : undefined) === null)
          return failed(`${game_id} is listed, and its data is null`, call);
      }
      return passed;
    },
  },
  {
    name: 'detail.same-game',
    section: '4.5, 2.5',
    rule: 'The detail has the game_id of the request.',
    check: async (session) => {
      for (const { game_id, call } of await fetchDetails(session)) {
        const id = (dataOf(call, REPORTED_BY) as { game_id?: unknown } | null)?.game_id;
        if (typeof id === 'string' && id !== game_id)
          return failed('data is the detail of another game', call);
      }
      return passed;
    },
  },
  ...fields,
  {
    name: 'detail.unknown-game',
    section: '4.5',
    rule: 'data is null if there is no data: an unknown game is a success without data.',
    check: async (session) => {
      const call = await session.call('query_game_detail', { game_id: UNKNOWN_GAME });
      if (call.status === undefined) return skipped('there is no response');
      if (!isSuccess(call)) return failed('an unknown game is not a failure', call);
      return judge(envelopeOf(call)?.data === null, 'data is not null', call);
    },
  },
];
