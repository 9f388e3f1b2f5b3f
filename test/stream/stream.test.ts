import { expect, it } from 'vitest';
import { insertPositions } from '#db/queries/events.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { pruneStream } from '#db/queries/stream.ts';
import { findSubscription } from '#db/queries/subscriptions.ts';
import { listStream } from '#src/events/read-stream.ts';
import { changeApplication, pauseApplication, resumeApplication } from '#src/operations/applications.ts';
import { subscribe } from '#src/operations/subscriptions.ts';
import { aStreamReader } from '#test/stream/reader.ts';
import { expectEachRead } from '#test/support/commits-out-of-order.ts';
import { addApplication, addGames, anOpenRun, fetchedGame, KIM } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGame, eraseKyc, operateAs, removeApplication, setPackageUrls } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const keys = ringOf(['k1']);
const short = ({ type, data }: { type: string; data: object }) => [type, data];

/** A reader who has read everything. */
const aReader = async (...given: Parameters<typeof aStreamReader> | []) => {
  const reader = aStreamReader(database.sql, given[1]);
  await reader.readAll();
  return { ...reader, readShort: async () => (await reader.readAll()).map(short) };
};

it('tells each change once: games, applications, KYC records, suspect runs', async () => {
  const { sql } = database;
  const { readShort } = await aReader();
  const acme = { application_id: 'acme' };
  await addApplication(sql, 'acme');
  expect(await readShort()).toEqual([['application.added', acme]]);

  const game = fetchedGame({ game_id: 'g-1' });
  await upsertGames(sql, 'acme', [game]);
  await upsertGames(sql, 'acme', [{ ...game, fetched_at: new Date() }]);
  const about = { ...acme, game_id: game.game_id, application_game_id: 'g-1' };
  expect(await readShort()).toEqual([['game.received', { ...about, revision: 1 }]]);

  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  const other = fetchedGame({ game_id: 'g-1', game_info: 'Another text.' }, new Date());
  await upsertGames(sql, 'acme', [other]);
  const url = { game_id: game.game_id, game_package_url: 'https://cdn.example/game.zip' };
  await setPackageUrls(sql, [url], KIM);
  const told = { ...about, game_name: 'Lantern Harbour' };
  const events = await readShort();
  expect(events[0]).toEqual([
    'game.passed',
    { ...told, revision: 1, audit_status: 'passed', audit_time: expect.any(String), why: 'decided' },
  ]);
  // Both are of one statement.
  expect(events.slice(1, 3).toSorted()).toEqual([
    ['game.changed', { ...about, revision: 2 }],
    [
      'game.pending',
      { ...told, revision: 2, audit_status: 'pending', audit_time: '', why: 'content_changed' },
    ],
  ]);
  expect(events.slice(3)).toEqual([['game.changed', { ...about, revision: 2 }]]);

  await operateAs(sql, KIM, pauseApplication, acme);
  await operateAs(sql, KIM, resumeApplication, acme);
  await operateAs(sql, KIM, changeApplication, { ...acme, name: 'Acme' });
  await operateAs(sql, KIM, changeApplication, { ...acme, name: 'Acme' });
  await sql`update applications set failed_runs = 1, last_success_at = now()`;
  expect(await readShort()).toEqual([
    ['application.paused', acme],
    ['application.resumed', acme],
    ['application.updated', acme],
  ]);

  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', { ...PLANTED, opening_bank: 'Two' });
  await store(sql, keys, 'acme', null);
  await eraseKyc(sql, 'acme', { ...KIM, reason: 'requested' }, { fourEyes: { kinds: [], onceTwo: false } });
  expect(await readShort()).toEqual([
    ['kyc.changed', { ...acme, state: 'sealed', changed_fields: [] }],
    ['kyc.changed', { ...acme, state: 'sealed', changed_fields: ['opening_bank'] }],
    ['kyc.changed', { ...acme, state: 'not_provided', changed_fields: [] }],
    ['kyc.changed', { ...acme, state: 'erased', changed_fields: [] }],
  ]);

  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  expect(await readShort()).toEqual([['run.suspect', { ...acme, run_id: run.run_id }]]);

  await removeApplication(sql, 'acme');
  expect(await readShort()).toEqual([['application.removed', acme]]);
  const values = JSON.stringify(await sql`select * from stream_events`);
  for (const value of Object.values(PLANTED)) expect(values).not.toContain(value);
});

it('misses no event of fifty transactions that commit out of order, one of them last', async () => {
  await addApplication(database.sql, 'ordered');
  const reader = await aReader();
  await expectEachRead(
    database.databaseUrl,
    Array.from({ length: 51 }, (_, n) => `g-${n}`),
    (tx, game_id) => upsertGames(tx, 'ordered', [fetchedGame({ game_id })]),
    async () => (await reader.read()).map(({ data }) => data.application_game_id ?? ''),
  );
});

it('gives no id twice, where a failover to a replica without the last commits gives a position twice', async () => {
  const { sql } = database;
  const ids: string[] = [];
  const [{ last } = {}] = await sql<{ last: string }[]>`select last_value as last from stream_positions`;
  for (const application_id of ['lost', 'after']) {
    await sql`select setval('stream_positions', ${last ?? 1})`;
    await addApplication(sql, application_id);
    const events = await aStreamReader(sql, ['application.added']).readAll();
    ids.push(events.find(({ data }) => data.application_id === application_id)?.event_id ?? '');
    await sql`delete from stream_events where application_id = ${application_id}`;
  }
  expect(ids.map((id) => id.slice(-12))).toEqual([ids[0]?.slice(-12), ids[0]?.slice(-12)]);
  expect(new Set(ids).size).toBe(2);
});

it('with types it passes over the others, also over more than one read compares', async () => {
  const { sql } = database;
  const reader = await aReader(sql, ['run.suspect']);
  await addApplication(sql, 'many');
  await addGames(sql, 'many', 10_050);
  await sql`update games set game_package_url = 'https://cdn.example/' || application_game_id where application_id = 'many'`;
  const run = await anOpenRun(sql, 'many');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  expect(await reader.read()).toEqual([]);
  expect((await reader.readAll()).map(short)).toEqual([
    ['run.suspect', { application_id: 'many', run_id: run.run_id }],
  ]);
});

it('a row of many events is read in pages of any size, each event once and with the id that it had before', async () => {
  const { sql } = database;
  await addApplication(sql, 'rows');
  const reader = await aReader();
  await addGames(sql, 'rows', 2_300);
  await addGames(sql, 'rows', 1);
  const { next: place } = await listStream(sql, { after: 'latest', limit: 1, types: [] }, String);
  const all = await reader.readAll(1_000);
  const written = await sql<{ size: number; begin: number }[]>`
    select size, position - size as begin from stream_events order by event_number desc limit 4`;
  expect(written.map(({ size }) => size)).toEqual([1, 300, 1_000, 1_000]);
  const begin = written[3]?.begin ?? 0;
  const stored = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'rows'`;
  expect(all.map(({ data }) => data.game_id).toSorted()).toEqual(
    stored.map((game) => game.game_id).toSorted(),
  );
  expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(2_301);
  for (const limit of [7, 333, 999]) {
    const pages = aStreamReader(sql, ['game.received'], String(begin));
    expect(await pages.readAll(limit)).toEqual(all);
  }
  const waiting = async (position: number) => {
    await sql`update event_subscriptions set position = ${position} where subscription_id = ${subscription_id}`;
    return (await findSubscription(sql, subscription_id))?.waiting;
  };
  const { subscription_id } = await operateAs(sql, KIM, subscribe, {
    url: 'https://copy.example/',
    types: [],
  });
  expect(await waiting(Number(place))).toBe(0);
  expect(await waiting(begin)).toBe(2_301);
  expect(await waiting(begin + 1_400)).toBe(901);
});

it('draws each position once, in the order of the log, also where statistics say that no row waits', async () => {
  const { sql } = database;
  await addApplication(sql, 'plans');
  const { readAll } = await aReader();
  await sql`analyze stream_events`;
  for (let row = 0; row < 5; row += 1) {
    await addGames(sql, 'plans', 1);
  }
  expect(await insertPositions(sql, 'stream_events', 5)).toBe(5);
  const rows = await sql<{ position: number }[]>`
    select position from stream_events order by event_number desc limit 5`;
  const last = rows[0]?.position ?? 0;
  expect(rows.map(({ position }) => last - position)).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  expect(await readAll()).toHaveLength(5);
});

it('refuses a place before the oldest event that is kept, and one that was never given', async () => {
  const { sql } = database;
  const [{ position = 0 } = {}] = await sql<{ position: number }[]>`
    select position from stream_events order by position offset 4 limit 1`;
  await sql`update stream_events set created_at = now() - interval '91 days' where position <= ${position}`;
  expect(await pruneStream(sql, 90 * 86_400_000, 2)).toBe(2);
  expect(await pruneStream(sql, 90 * 86_400_000, 100)).toBe(2);
  expect(await pruneStream(sql, 90 * 86_400_000, 100)).toBe(0);
  const from = (after: string) => aStreamReader(sql, [], after).read(1);
  await expect(from(String(position - 2))).rejects.toThrow('deleted by now');
  // A reader who stopped just before the oldest event that is kept, or at it, has missed nothing.
  for (const place of [position - 1, position]) expect(await from(String(place))).toHaveLength(1);
  expect(await from('')).toHaveLength(1);
  expect(await from('latest')).toEqual([]);
  await expect(from('999999999999')).rejects.toThrow('deleted by now');
});

it('no process writes the stream itself, and none moves an event that has its position', async () => {
  for (const role of ['worker', 'api', 'console', 'media', 'kyc_desk', 'operator'] as const) {
    const own = database.as(role);
    await expect(
      own`insert into stream_events (type, application_id) values ('game.received', 'acme')`,
    ).rejects.toThrow('permission denied');
    await expect(
      own`update stream_events set position = position + 1 where position is not null`,
    ).rejects.toThrow('permission denied');
  }
});
