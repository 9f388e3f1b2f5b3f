import { expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { readStream } from '#db/queries/stream.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { readList } from '#src/lists/read.ts';
import { threadList } from '#src/lists/threads.ts';
import { appealRejection } from '#src/operations/appeals.ts';
import { applicationCaller, operateAsApplication } from '#src/operations/operate.ts';
import { messageGame, noteGame } from '#src/operations/threads.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';

const { database, expectRefused } = useStolenLogins();

let applications = 0;
/** A game of a new application. */
const land = async () => {
  applications += 1;
  const application_id = `app-${applications}`;
  await addApplication(database.sql, application_id);
  const game = fetchedGame();
  await upsertGames(database.sql, application_id, [game]);
  return { application_id, game_id: game.game_id };
};
type Landed = Awaited<ReturnType<typeof land>>;
const note = (game_id: string, text: string) => operateAs(database.sql, KIM, noteGame, { game_id, text });
const message = (game_id: string, text: string) =>
  operateAs(database.sql, KIM, messageGame, { game_id, text });
const answer = ({ application_id, game_id }: Landed, text: string) =>
  operateAsApplication(messageGame, { game_id, text }, applicationCaller(application_id), database.sql);
const read = async (game_id: string, is_public: boolean) => {
  const sources = { sql: database.sql, producer: () => Promise.reject(new Error('none')) };
  const { rows } = await readList(threadList, sources, { game_id, is_public }, { limit: 500 });
  return rows.map(({ kind, text }) => `${kind}: ${text}`);
};

test('operators and a developer talk about one game; the developer reads no note', async () => {
  const { sql } = database;
  const landed = await land();
  const { game_id } = landed;
  await note(game_id, 'Ask for the rating.');
  await message(game_id, 'Which rating?');
  await answer(landed, 'Twelve.\r\nHere: <b>\u202eevil</b>');
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  await operateAsApplication(
    appealRejection,
    { game_id, text: 'Why?' },
    applicationCaller(landed.application_id),
    sql,
  );
  const told = ['message: Which rating?', 'answer: Twelve.\nHere: <b>\u202eevil</b>', 'appeal: Why?'];
  expect(await read(game_id, true)).toEqual(told);
  expect(await read(game_id, false)).toEqual(['note: Ask for the rating.', ...told]);
  const events = await sql<{ type: string; data: object }[]>`
    select type, data from events where game_id = ${game_id} order by event_number limit 1`;
  expect(events).toMatchObject([
    { type: 'game.message', data: { why: 'message', audit_status: 'pending', text: 'Which rating?' } },
  ]);
  await placeEvents(sql, 'stream_events');
  const { list } = await readStream(sql, { after: 0, limit: 1_000 });
  const types = list.filter((event) => event.game_id === game_id).map(({ type }) => type);
  expect(types).toEqual(['game.received', 'game.message', 'game.answered', 'game.rejected', 'game.appealed']);
  const entries = (await listAudit(sql, { limit: 20 })).filter(
    ({ subject }) => subject === `game:${game_id}`,
  );
  expect(entries.map(({ actor, action }) => `${actor} ${action}`).toReversed()).toEqual([
    'kim game.note',
    'kim game.message',
    `${landed.application_id} game.message`,
    'kim game.reject',
    `${landed.application_id} game.appeal`,
  ]);
  expect(JSON.stringify(entries)).not.toContain('Twelve');
});

test('a game of another application is as one that does not exist', async () => {
  const [own, other] = [await land(), await land()];
  const unknown = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
  for (const game_id of [other.game_id, unknown]) {
    await expect(answer({ ...own, game_id }, 'Hello')).rejects.toThrow(`There is no game "${game_id}".`);
    const appeal = { game_id, text: 'Hello' };
    await expect(
      operateAsApplication(appealRejection, appeal, applicationCaller(own.application_id), database.sql),
    ).rejects.toThrow(`There is no game "${game_id}".`);
  }
  expect(await read(other.game_id, false)).toEqual([]);
});

test.each([
  ['empty', '  \n ', 'is empty'],
  ['too long', 'x'.repeat(4_001), 'is longer than 4000 characters'],
  ['not storable', 'a\u0000b', 'U+0000'],
  ['half a character', 'a\ud800', 'U+0000 or a lone surrogate'],
])('a text that is %s is refused', async (_, text, why) => {
  const landed = await land();
  for (const write of [() => note(landed.game_id, text), () => answer(landed, text)])
    await expect(write()).rejects.toThrow(why);
});

test('4,000 emojis are 4,000 characters', async () => {
  const landed = await land();
  await answer(landed, '🎮'.repeat(4_000));
  expect(await read(landed.game_id, true)).toHaveLength(1);
});

test('a thread takes 200 entries, 100 of them of its developer, however many are sent at once', async () => {
  const landed = await land();
  const sent = await Promise.allSettled(Array.from({ length: 130 }, (_, n) => answer(landed, `${n}`)));
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
  await expect(answer(landed, 'one more')).rejects.toThrow('You have written 100 entries');
  for (let n = 0; n < 100; n += 1) await message(landed.game_id, 'an answer');
  await expect(message(landed.game_id, 'one more')).rejects.toThrow('has 200 entries');
});

test('an application writes 500 texts in 24 hours, and operators go on', async () => {
  const { sql } = database;
  const { application_id } = await land();
  const games = Array.from({ length: 6 }, (_, n) => fetchedGame({ game_id: `t-${n}` }));
  await upsertGames(sql, application_id, games);
  const [first = '', ...others] = games.map(({ game_id }) => game_id);
  await sql`
    insert into game_messages (game_id, kind, written_by, text)
    select game_id, 'answer', ${application_id}, n::text
    from unnest(${others}::uuid[]) as game_id, generate_series(1, 100) n
    limit 499`;
  const sent = await Promise.allSettled(
    Array.from({ length: 8 }, () => answer({ application_id, game_id: first }, 'hello')),
  );
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(answer({ application_id, game_id: first }, 'x')).rejects.toThrow('500 texts within 24 hours');
  await message(first, 'We read it.');
  await sql`update game_messages set written_at = now() - interval '25 hours'`;
  await answer({ application_id, game_id: first }, 'a day later');
});

test('a withdrawn game takes notes alone', async () => {
  const landed = await land();
  await database.sql`update games set withdrawn_at = now() where game_id = ${landed.game_id}`;
  await expect(answer(landed, 'Hello')).rejects.toThrow('The game is withdrawn');
  await expect(message(landed.game_id, 'Hello')).rejects.toThrow('The game is withdrawn');
  await note(landed.game_id, 'It is gone.');
});

test('the worker and media read and write none of it; the API writes as developers alone; no role rewrites', async () => {
  const landed = await land();
  const { game_id } = landed;
  await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  await operateAsApplication(
    appealRejection,
    { game_id, text: 'Why?' },
    applicationCaller(landed.application_id),
    database.sql,
  );
  const decide = (outcome: string) =>
    `update game_appeals set outcome = '${outcome}', decided_by = 'lee', answer = 'x' where game_id = '${game_id}'`;
  const write = (kind: string) =>
    `insert into game_messages (game_id, kind, written_by, text) values ('${game_id}', '${kind}', 'kim', 'x')`;
  const appeal = `insert into game_appeals (game_id, text) values ('${game_id}', 'x')`;
  for (const role of ['worker', 'media', 'kyc_desk'] as const)
    await expectRefused(role, [
      ...['note', 'message', 'answer'].map(write),
      ...['upheld', 'overturned', 'void'].map(decide),
      appeal,
      'select text from game_messages',
      'select text from game_appeals',
    ]);
  await expectRefused('api', [write('note'), write('message'), decide('overturned')]);
  for (const role of ['api', 'console', 'operator', 'operator_api'] as const)
    await expectRefused(role, [
      "update game_messages set text = 'other'",
      'delete from game_messages',
      "update game_appeals set rejected_by = 'nobody'",
      "update game_appeals set outcome = 'void'",
      'delete from game_appeals',
    ]);
});
