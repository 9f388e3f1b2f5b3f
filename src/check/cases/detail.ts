import { type Case, dataOf, envelopeOf, failed, passed, skipped } from '#src/check/case.ts';
import { askDetails, UNKNOWN_GAME } from '#src/check/cases/asking.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import { applicationGameDetailSchema } from '#src/contract/application.ts';
import { RET_CODE_SUCCESS } from '#src/contract/envelope.ts';

const listedGame: Case = {
  name: 'detail.listed-game',
  section: '4.5',
  rule: 'A game_id that game.queryList names has a detail.',
  judge: async (session) => {
    for (const { game_id, call } of await askDetails(session)) {
      if (dataOf(call) === null) return failed(`${game_id} is listed, and its data is null`, call);
    }
    return passed;
  },
};

const sameGame: Case = {
  name: 'detail.same-game',
  section: '4.5, 2.5',
  rule: 'The detail is that of the game_id which was asked for.',
  judge: async (session) => {
    for (const { game_id, call } of await askDetails(session)) {
      const got = (dataOf(call) as { game_id?: unknown } | null)?.game_id;
      if (typeof got === 'string' && got !== game_id) return failed('it is the detail of another game', call);
    }
    return passed;
  },
};

const unknownGame: Case = {
  name: 'detail.unknown-game',
  section: '4.5',
  rule: 'data is null when there is no data: an unknown game is a success without data.',
  judge: async (session) => {
    const call = await session.call('query_game_detail', { game_id: UNKNOWN_GAME });
    if (call.status === undefined) return skipped('no answer came');
    const envelope = envelopeOf(call);
    if (envelope?.ret_code !== RET_CODE_SUCCESS) return failed('an unknown game is no failure', call);
    return envelope.data === null ? passed : failed('data is not null', call);
  },
};

const fields = fieldCases(
  'detail',
  '2.5',
  applicationGameDetailSchema,
  async (session) =>
    (await askDetails(session)).flatMap(({ call }) => {
      const value = dataOf(call);
      return value === null ? [] : [{ value, call, where: 'data' }];
    }),
  { urls: true },
);

/** The application-side game.queryDetail, section 4.5. */
export const detailCases: readonly Case[] = [listedGame, sameGame, ...fields, unknownGame];
