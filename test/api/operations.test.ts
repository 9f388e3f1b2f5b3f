import { describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { DETAIL, LIST, post, useApi } from '#test/support/api.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { decideGame, removeApplication } from '#test/support/operate.ts';

const served = useApi({ auditTimeZone: 'Asia/Shanghai' });

const { addApplicationWithGames: withGames } = served;
const list = (token: string, body: unknown) => post(served.api.url, LIST, token, body);
const detail = (token: string, body: unknown) => post(served.api.url, DETAIL, token, body);
const pass = async (game_id: string) => {
  const decision = { game_id, revision: 1, audit_status: 'passed' } as const;
  expect(await decideGame(served.api.sql, decision)).toBe(true);
};

describe('section 4.1, game.listByAuditStatus', () => {
  test('lists games by game_id ascending in the envelope, with the fields of section 2.2 and no others', async () => {
    const { token, game_ids } = await withGames(3);
    const { status, headers, body } = await list(token, {
      audit_status: 'pending',
      page_num: 1,
      page_size: 20,
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Object.keys(body)).toEqual(['ret_code', 'ret_msg', 'data']);
    expect(body).toMatchObject({ ret_code: 0, ret_msg: 'success', data: { total: 3 } });
    expect(body.data.list.map((game: { game_id: string }) => game.game_id)).toEqual(game_ids);
    for (const game of body.data.list) {
      expect(Object.keys(game).sort()).toEqual(['audit_status', 'audit_time', 'game_id', 'game_name']);
      expect(game).toMatchObject({ audit_status: 'pending', audit_time: '' });
    }
  });

  test('audit_time is "" while pending and yyyy-MM-dd HH:mm:ss in AUDIT_TIME_ZONE after (section 2.2)', async () => {
    const { token, game_ids } = await withGames(1);
    await pass(game_ids[0] ?? '');
    await served.api
      .sql`update games set audit_time = '2026-12-31T16:04:05.999Z' where game_id = ${game_ids[0] ?? ''}`;
    const { body } = await list(token, { audit_status: 'passed' });
    expect(body.data).toEqual({
      total: 1,
      list: [
        {
          game_id: game_ids[0],
          game_name: expect.any(String),
          audit_status: 'passed',
          audit_time: '2027-01-01 00:04:05',
        },
      ],
    });
  });

  test('audit_status is required and one of three values (section 4.1)', async () => {
    const missing = await list(served.operatorToken, { page_num: 1, page_size: 20 });
    expect(missing.status).toBe(400);
    expect(missing.body).toEqual({ ret_code: 40001, ret_msg: 'audit_status is missing', data: null });
    for (const audit_status of ['', 'PENDING', 'approved', null, 1, ['pending'], { pending: true }]) {
      const { status, body } = await list(served.operatorToken, { audit_status });
      expect([status, body.ret_code, body.ret_msg]).toEqual([
        400,
        40001,
        'audit_status must be pending, passed or rejected',
      ]);
    }
    for (const audit_status of ['pending', 'passed', 'rejected']) {
      expect((await list(served.operatorToken, { audit_status })).body.ret_code).toBe(0);
    }
  });

  test('page_num is 1 and page_size 20 when absent (section 8)', async () => {
    const { token, game_ids } = await withGames(21);
    const { body } = await list(token, { audit_status: 'pending' });
    expect(body.data.total).toBe(21);
    expect(body.data.list.map((game: { game_id: string }) => game.game_id)).toEqual(game_ids.slice(0, 20));
  });

  test('page_size 100 is accepted and 101 refused (section 8)', async () => {
    const { token } = await withGames(101);
    const most = await list(token, { audit_status: 'pending', page_size: 100 });
    expect(most.body.data.list).toHaveLength(100);
    const more = await list(token, { audit_status: 'pending', page_size: 101 });
    expect(more.status).toBe(400);
    expect(more.body).toEqual({ ret_code: 40001, ret_msg: 'page_size must be at most 100', data: null });
  });

  test.each([
    ['page_num', 2 ** 53, 'page_num must be at most 9007199254740991'],
    ['page_size', '20', 'page_size must be a whole number'],
    ['page_size', 1.5, 'page_size must be a whole number'],
    ['page_size', null, 'page_size must be a whole number'],
    ['page_size', 0, 'page_size must be at least 1'],
    ['page_num', '1', 'page_num must be a whole number'],
    ['page_num', 0, 'page_num must be at least 1'],
    ['page_num', -1, 'page_num must be at least 1'],
    ['page_num', true, 'page_num must be a whole number'],
  ])('%s %j is refused, and ret_msg names the field', async (field, value, ret_msg) => {
    const { status, body } = await list(served.operatorToken, { audit_status: 'pending', [field]: value });
    expect(status).toBe(400);
    expect(body).toEqual({ ret_code: 40001, ret_msg, data: null });
  });

  test('list is [] and total unchanged at any page past the end', async () => {
    const { token } = await withGames(2);
    for (const page_num of [2, 1_000, Number.MAX_SAFE_INTEGER]) {
      const { body } = await list(token, { audit_status: 'pending', page_num, page_size: 100 });
      expect(body).toEqual({ ret_code: 0, ret_msg: 'success', data: { total: 2, list: [] } });
    }
  });

  test('unknown fields are ignored', async () => {
    expect(
      (await list(served.operatorToken, { audit_status: 'passed', application_id: 'app-1' })).status,
    ).toBe(200);
  });

  test("an application's token lists its own games, an operator's all", async () => {
    const [one, other] = [await withGames(2), await withGames(1)];
    expect((await list(one.token, { audit_status: 'pending' })).body.data.total).toBe(2);
    expect((await list(other.token, { audit_status: 'pending' })).body.data.total).toBe(1);
    const counted = await served.api
      .sql`select count(*)::int as games from games where audit_status = 'pending'`;
    expect((await list(served.operatorToken, { audit_status: 'pending' })).body.data.total).toBe(
      counted[0]?.games,
    );
  });

  test('games that were withdrawn are neither listed nor counted, and their detail is null', async () => {
    const { application_id, game_ids } = await withGames(3);
    const before = (await list(served.operatorToken, { audit_status: 'pending' })).body.data.total;
    await removeApplication(served.api.sql, application_id);
    expect((await list(served.operatorToken, { audit_status: 'pending' })).body.data.total).toBe(before - 3);
    expect((await detail(served.operatorToken, { game_id: game_ids[0] })).body.data).toBeNull();
  });
});

describe('section 4.2, game.queryDetail (platform side)', () => {
  test('returns a game with the fields of section 2.3 and no others', async () => {
    const { application_id, token } = await withGames(0);
    const game = fetchedGame({
      game_name: 'Lantern Harbour 🏮',
      game_icon: ['https://cdn.example/i.png'],
      game_info: 'Bring the boats home.',
      game_store_video: 'https://cdn.example/v.mp4',
      game_store_pic: ['https://cdn.example/1.png', 'https://cdn.example/2.png'],
    });
    await upsertGames(served.api.sql, application_id, [game]);
    const { status, body } = await detail(token, { game_id: game.game_id });
    expect(status).toBe(200);
    expect(body).toEqual({
      ret_code: 0,
      ret_msg: 'success',
      data: {
        game_id: game.game_id,
        game_name: 'Lantern Harbour 🏮',
        game_icon: ['https://cdn.example/i.png'],
        game_desc: 'Bring the boats home.',
        game_package_url: '',
        game_store_video: 'https://cdn.example/v.mp4',
        game_store_pic: ['https://cdn.example/1.png', 'https://cdn.example/2.png'],
        audit_status: 'pending',
      },
    });
  });

  test('a field that a game does not have is "" or [] (section 2.3)', async () => {
    const { token, game_ids } = await withGames(1);
    expect((await detail(token, { game_id: game_ids[0] })).body.data).toMatchObject({
      game_icon: [],
      game_desc: '',
      game_package_url: '',
      game_store_video: '',
      game_store_pic: [],
    });
  });

  test('data is null for an unknown game, a game of another application, and an id that is not a UUID', async () => {
    const [mine, theirs] = [await withGames(1), await withGames(1)];
    const absent = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
    for (const game_id of [
      absent,
      theirs.game_ids[0],
      'nonsense',
      '',
      "'; drop table games",
      '\u0000',
      '\ud800',
    ]) {
      const { status, body } = await detail(mine.token, { game_id });
      expect(status).toBe(200);
      expect(body).toEqual({ ret_code: 0, ret_msg: 'success', data: null });
    }
    expect((await detail(served.operatorToken, { game_id: theirs.game_ids[0] })).body.data.game_id).toBe(
      theirs.game_ids[0],
    );
  });

  test.each([
    [{}, 'game_id is missing'],
    [{ game_id: 7 }, 'game_id must be a string'],
    [{ game_id: null }, 'game_id must be a string'],
  ])('%j is refused, and ret_msg says why (section 4.2)', async (body, ret_msg) => {
    const answer = await detail(served.operatorToken, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ ret_code: 40001, ret_msg, data: null });
  });
});
