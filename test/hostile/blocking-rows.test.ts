// Rows within the rights of a stolen login after which an act of others failed, again and again.
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { listLanePage } from '#db/queries/lanes.ts';
import { deleteFormerSecrets, replaceEventSecret } from '#db/queries/receivers.ts';
import { readGameEvents } from '#db/queries/timeline.ts';
import { listWorkerQueues } from '#db/queries/workers.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import { operate } from '#src/operations/operate.ts';
import { identifyPins } from '#src/pictures/identify-pins.ts';
import { CONTENT_COLUMNS } from '#src/rules/mapping.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addTestOperator } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame, openSessions, operatorCaller, testPlatform } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();
const CHECK_VIOLATION = { code: '23514' };

beforeEach(async () => {
  await database.sql`truncate applications, games, events, pictures, workers cascade`;
  for (const id of ['acme', 'beta']) await addApplication(database.sql, id);
});

const storeGame = async (changes: Parameters<typeof fetchedGame>[0] = {}) => {
  const game = fetchedGame(changes);
  await upsertGames(database.as('worker'), 'acme', [game]);
  return game.game_id;
};
const pass = (game_id: string) => decideGame(database.sql, { game_id, audit_status: 'passed' });

test('an address without keys, of a stolen console, keeps no former secret, and is signed anew', async () => {
  const { sql } = database;
  for (const id of ['acme', 'beta']) await giveAddress(sql, id, 'https://events.example/');
  await sql`update event_webhooks set former_until = now() - interval '1 hour'`;
  expect(
    await attempt('console', "update event_webhooks set secret_keys = '[]' where application_id = 'acme'"),
  ).toBe(1);
  expect(await deleteFormerSecrets(database.as('worker'))).toBe(2);
  const secret = { secret: Buffer.from('x'), secret_keys: [{ key_id: 'k', wrapped: 'x' }] };
  const rotation = { expected: null, both_ms: 60_000 };
  expect(await replaceEventSecret(sql, { application_id: 'acme' }, secret, rotation)).toBeInstanceOf(Date);
});

test('a game is decided on, however long the address of its picture is', async () => {
  const game_id = await storeGame({ game_icon: [`https://cdn.example/${'a'.repeat(25_000)}`] });
  await pass(game_id);
  expect(await database.sql`select max(length(url)) from pictures`).toEqual([{ max: 2048 }]);
});

test('a game is decided on, whatever a stolen worker did to its revision', async () => {
  const { sql } = database;
  const shown = `revision, ${CONTENT_COLUMNS.join(', ')}, content_hash, fetched_at`;
  const game_id = await storeGame();
  const replaced = shown.replace('game_name', "'FREE CASINO'");
  for (const plant of [
    'delete from game_revisions',
    `with former as (delete from game_revisions returning *)
     insert into game_revisions (game_id, ${shown}) select game_id, ${replaced} from former`,
  ]) {
    expect(await attempt('worker', plant)).toBe(1);
    await pass(game_id);
    const [game] = await sql.unsafe(`select ${shown} from games`);
    expect(await sql.unsafe(`select ${shown} from game_revisions`)).toEqual([game]);
    await sql`truncate game_audits cascade`;
    await sql`update games set audit_status = 'pending', audit_time = null`;
  }
});

test('no stolen login keeps a game out of the lanes', async () => {
  const game_id = await storeGame();
  for (const role of ['worker', 'media', 'console', 'operator_api'] as const)
    await expectRefused(role, [
      `insert into changed_games (game_id, application_id, decided_revision) values ('${game_id}', 'none', 1)`,
      'delete from changed_games',
    ]);
  const page = { sort: 'due', descending: false, limit: 1 } as const;
  expect(await listLanePage(database.sql, { lane: 'new' }, page)).toMatchObject({ rows: [{ game_id }] });
});

test('an id of a game, as long as one index takes, keeps no failure out of another', async () => {
  const id = randomBytes(2_010).toString('base64');
  await expect(storeGame({ game_id: id })).rejects.toMatchObject(CHECK_VIOLATION);
  await expect(
    database.as('api')`
      insert into refresh_requests (application_id, application_game_id) values ('acme', ${id})`,
  ).rejects.toMatchObject(CHECK_VIOLATION);
  const longest = id.slice(0, 2_048);
  await storeGame({ game_id: longest });
  await recordFailures(database.as('worker'), 'acme', 'query_game_detail', [
    { application_game_id: longest, kind: 'timeout', reasons: [] },
  ]);
});

test('a game is decided on, whose name is as long as an index takes while it is pending', async () => {
  const nameOf = (length: number) => randomBytes(2_100).toString('base64').slice(0, length);
  await expect(storeGame({ game_name: nameOf(2_616) })).rejects.toMatchObject(CHECK_VIOLATION);
  await pass(await storeGame({ game_name: nameOf(2_048) }));
});

test('a later name of a game looks up no thousands of words, and no word has keys of megabytes', async () => {
  const { sql } = database;
  await storeGame();
  const words = (count: number, length: number) =>
    database.as('worker').unsafe(`update games set search = array_to_tsvector(array(
      select 'w' || lpad(i::text, ${length}, 'x') from generate_series(1, ${count}) i))`);
  await expect(words(101, 5)).rejects.toMatchObject(CHECK_VIOLATION);
  await words(100, 2_000);
  expect(await sql`select from search_words where length(word) > 24`).toEqual([]);
});

test('a word of a game that Postgres would parse as several keeps no later name out', async () => {
  await storeGame();
  const word = String.raw`a\ b' & c`;
  expect(await attempt('worker', `update games set search = array_to_tsvector(array[$$${word}$$])`)).toBe(1);
  const renamed = fetchedGame({ game_name: 'Renamed' }, new Date('2026-03-02T12:00:00.000Z'));
  await upsertGames(database.as('worker'), 'acme', [renamed]);
  expect(await database.sql`select from search_words where word = ${word}`).toEqual([]);
});

test('a pin of a place that no game has keeps no pins from being identified', async () => {
  const { sql } = database;
  await pass(await storeGame());
  const plant = (place: number) => `
    insert into picture_pins (audit_id, is_icon, place, picture_id)
    select audit_id, true, ${place}, gen_random_uuid() from game_audits`;
  await expect(database.as('console').unsafe(plant(100))).rejects.toMatchObject(CHECK_VIOLATION);
  expect(await attempt('console', plant(99))).toBe(1);
  expect(await identifyPins(sql, new AbortController().signal)).toBe(0);
});

test('a stolen worker names no more queues than a page shows', async () => {
  await database.as('worker')`
    insert into workers (worker_id, host, pid, queue)
    select gen_random_uuid(), 'x', 1, rpad(n::text, 20000, 'x') from generate_series(1, 1000) n`;
  const queues = await listWorkerQueues(database.as('console'));
  expect([queues.length, Math.max(...queues.map((queue) => queue.length))]).toEqual([10, 300]);
});

test('a stolen media process has no page of a game show a hundred thousand changes of its pictures', async () => {
  const game_id = await storeGame();
  const media = database.as('media');
  await media`
    insert into pictures (picture_id, url) select gen_random_uuid(), 'https://cdn.example/' from generate_series(1, 300)`;
  await media`
    insert into picture_changes (game_id, picture_id, audit_id, before, after)
    select ${game_id}, picture_id, 1, '\\x01', '\\x01' from pictures`;
  const { pictures } = await readGameEvents(database.as('console'), game_id);
  expect(pictures.map(({ urls }) => urls.length)).toEqual([200]);
});

test('a stolen API requests no games of applications that there are not, which each round would read', async () => {
  await expect(
    database.as('api')`
      insert into refresh_requests (application_id, application_game_id) values ('none', 'g')`,
  ).rejects.toMatchObject({ code: '23503' });
});

test('an application is held and released, whatever rows of no hold a stolen console left', async () => {
  const { sql } = database;
  const platform = testPlatform(sql);
  const game_id = await storeGame();
  await pass(game_id);
  const planted = `insert into held_games (game_id, application_id, audit_id) values ('${game_id}', 'beta', 1)`;
  expect(await attempt('console', planted)).toBe(1);
  await addTestOperator(sql, 'adam', 'admin');
  await openSessions(sql);
  const adam = operatorCaller('adam', 'admin');
  await operate(holdApplication, { application_id: 'acme', reason: 'a report' }, adam, platform);
  expect(await sql`select audit_status from games`).toEqual([{ audit_status: 'pending' }]);
  await operate(releaseApplication, { application_id: 'acme' }, adam, platform);
  expect(await sql`select audit_status from games`).toEqual([{ audit_status: 'passed' }]);
});
