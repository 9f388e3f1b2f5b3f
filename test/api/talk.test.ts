// What a developer's server may write about its games, and what it may not.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { callApi, post, useApi } from '#test/support/api.ts';
import { addToken } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { everyRow } from '#test/support/stored.ts';

const { api, addApplicationWithGames } = useApi({
  rateLimit: { max: 100_000, timeWindowMs: 60_000 },
});
const MESSAGE = '/open-api/game/message';
const APPEAL = '/open-api/game/appeal';
const write = async (token: string, path: string, game_id: string, text: unknown) => {
  const { status, body } = await post(api.url, path, token, { game_id, text });
  return { status, ...body };
};
const rows = async () => {
  const { game_messages, game_appeals, audit_log } = await everyRow(api.sql);
  return { game_messages, game_appeals, audit_log };
};

test('a developer answers and appeals, with what the application of the token may see', async () => {
  const { token, game_ids } = await addApplicationWithGames(1);
  const [game_id = ''] = game_ids;
  const answer = await write(token, MESSAGE, game_id, 'Twelve.');
  expect(answer).toMatchObject({ status: 200, ret_code: 0, data: { game_id } });
  expect(Object.keys(answer.data)).toEqual(['game_id', 'written_at']);
  const early = await write(token, APPEAL, game_id, 'Why?');
  expect([early.ret_code, early.ret_msg]).toEqual([
    40901,
    'The game is not rejected: there is nothing to appeal.',
  ]);
  await decideGame(api.sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  expect(await write(token, APPEAL, game_id, 'Why?')).toMatchObject({ ret_code: 0, data: { game_id } });
  expect(await write(token, APPEAL, game_id, 'Why?')).toMatchObject({
    ret_code: 40901,
    ret_msg: 'This rejection was appealed: a rejection is appealed once.',
  });
});

test('the example of the guide answers and appeals, and shows a refusal', async () => {
  const { token, game_ids } = await addApplicationWithGames(1);
  const [game_id = ''] = game_ids;
  const example = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, PLATFORM_URL: api.url, API_TOKEN: token };
    const command = spawn(process.execPath, ['docs/example-application.ts', ...args], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return text(command.stderr);
  };
  expect(await example('message', game_id, 'Rated', '12.')).toBe('message 0: success\n');
  expect(await example('appeal', game_id, 'Why?')).toContain('appeal 40901: The game is not rejected');
  await decideGame(api.sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  expect(await example('appeal', game_id, 'It is ours.')).toBe('appeal 0: success\n');
  const written = await api.sql`
    select text from game_messages where game_id = ${game_id}
    union all select text from game_appeals where game_id = ${game_id}`;
  expect(written).toEqual([{ text: 'Rated 12.' }, { text: 'It is ours.' }]);
});

test('each id of another application is answered as one that does not exist, and nothing is written', async () => {
  const own = await addApplicationWithGames(1);
  const other = await addApplicationWithGames(5);
  for (const game_id of other.game_ids)
    await decideGame(api.sql, { game_id, audit_status: 'rejected', reason: 'other', text: 'secret' });
  const before = await rows();
  for (const game_id of [...other.game_ids, '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b'])
    for (const path of [MESSAGE, APPEAL]) {
      const { status, ret_code, ret_msg } = await write(own.token, path, game_id, 'Hello');
      expect([status, ret_code, ret_msg]).toEqual([404, 40402, `There is no game "${game_id}".`]);
    }
  for (const game_id of ['x', '', '../..', "' or 1=1"])
    expect(await write(own.token, MESSAGE, game_id, 'Hello')).toMatchObject({ ret_code: 40001 });
  expect(await rows()).toEqual(before);
});

test.each([
  ['4,001 characters', 'x'.repeat(4_001), 'text is longer than 4000 characters.'],
  ['white space', ' \n\t ', 'text is empty: write what the reader needs.'],
  ['a number', 7, 'text must be a string'],
  ['U+0000', 'a\u0000b', 'text contains U+0000 or a lone surrogate, which Postgres cannot store.'],
])('a text of %s is refused in words', async (_name, given, why) => {
  const { token, game_ids } = await addApplicationWithGames(1);
  const before = await rows();
  const { status, ret_code, ret_msg } = await write(token, MESSAGE, game_ids[0] ?? '', given);
  expect([status, ret_code, ret_msg]).toEqual([400, 40001, why]);
  expect(await rows()).toEqual(before);
});

test('of 1,000 messages at once, a thread takes 100; the others are refused in words', async () => {
  const { token, game_ids } = await addApplicationWithGames(1);
  const FULL = 'You have written 100 entries in the thread of this game: it takes no more.';
  // A busy machine answers some of them so, also of those that it wrote.
  const BUSY = 'The platform cannot respond now: retry later.';
  const writeMany = async (length: number): Promise<boolean> => {
    const answers = await Promise.all(
      Array.from({ length }, (_unused, n) => write(token, MESSAGE, game_ids[0] ?? '', `no. ${n}`)),
    );
    const refused = answers.filter(({ ret_code }) => ret_code !== 0).map(({ ret_msg }) => String(ret_msg));
    for (const why of refused) expect([FULL, BUSY]).toContain(why);
    return refused.length === length && refused.every((why) => why === FULL);
  };
  await writeMany(1_000);
  while (!(await writeMany(10)));
  const written = await api.sql`
    select count(*)::int as texts from game_messages where game_id = ${game_ids[0] ?? ''}`;
  expect(written).toMatchObject([{ texts: 100 }]);
});

test('an operator’s token writes nothing', async () => {
  const { game_ids } = await addApplicationWithGames(1);
  const { token } = await addToken(api.sql, null, null, { login: 'writer', roles: ['reviewer'] });
  const answer = await callApi(api.url + MESSAGE, token, {
    body: JSON.stringify({ game_id: game_ids[0], text: 'Hello' }),
  });
  expect(answer.status).toBe(403);
});
