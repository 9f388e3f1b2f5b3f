// The pictures of one application are on a host that answers slowly: those of another one do not wait for them.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { carryOverDecisionsJob } from '#jobs/carry-over-decisions.ts';
import { fetchPicturesJob } from '#jobs/fetch-pictures.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { fetchPictures } from '#src/ingest/specs.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createDecoder } from '#src/pictures/decoder.ts';
import type { MediaDependencies } from '#src/pictures/dependencies.ts';
import { createPictures, type Pictures } from '#src/pictures/refresh.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGames } from '#test/support/operate.ts';
import { aPicture, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const { signal } = new AbortController();
const recheckMs = 7 * 86_400_000;
const decoder = createDecoder();
const servers: PictureServer[] = [];
let slow: PictureServer;
let quick: PictureServer;
let media: Database;
let pictures: Pictures;
let deps: MediaDependencies;
let bytes: Buffer;
/** What the slow host had answered when the quick one was asked first. */
let answered: number | undefined;

beforeAll(async () => {
  bytes = await aPicture(1);
  media = database.as('media');
});
beforeEach(async () => {
  await database.sql`truncate applications cascade`;
  await database.sql`truncate pictures`;
  slow = await startPictureServer();
  quick = await startPictureServer();
  servers.push(slow, quick);
  answered = undefined;
  pictures = createPictures({
    sql: media,
    egress: createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] }),
    decoder,
    maxBytes: 200_000,
    recheckMs,
    turnLimits: { look: { waitMs: 200, againMs: 5_000 }, check: { waitMs: 200, againMs: 60_000 } },
    reopenGames: createReopenGames(media),
  });
  deps = { sql: media, pictures, keeper: undefined, recheckMs };
  for (const application_id of ['slow', 'quick']) await addApplication(database.sql, application_id);
});
afterEach(() => pictures.close());
afterAll(async () => {
  decoder.close();
  for (const server of servers) await server.close();
});

/** Addresses at the slow host, which takes 50 ms for each. */
const atSlow = (count: number): string[] =>
  Array.from({ length: count }, () => {
    const path = `/${randomUUID()}.png`;
    slow.files.set(path, async (_, response) => {
      await sleep(50);
      response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
    });
    return slow.url + path;
  });
const atQuick = (): string => {
  quick.files.set('/1.png', (_, response) => {
    answered ??= slow.requests.length;
    response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
  });
  return `${quick.url}/1.png`;
};
let minute = 0;
const land = async (application_id: string, id: string, urls: string[]): Promise<string> => {
  minute += 1;
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute));
  const game = fetchedGame({ game_id: id, game_icon: [], game_store_pic: urls, game_store_video: '' }, at);
  await upsertGames(database.sql, application_id, [game]);
  return (await oneGame(database.sql, application_id, id)).game_id;
};
const pass = async (game_id: string) => {
  const { games } = await decideGames(
    database.sql,
    [{ game_id, revision: 1 }],
    { audit_status: 'passed' },
    KIM,
  );
  expect(games[0]?.result).toBe('decided');
};

test('a check of decided pictures', async () => {
  for (let n = 0; n < 40; n += 1) await pass(await land('slow', `g-${n}`, atSlow(10)));
  await database.sql`update pictures set next_check_at = now() - interval '1 hour'`;
  await pass(await land('quick', 'g', [atQuick()]));
  await recheckPicturesJob.handler({}, { deps, signal } as never);
  expect(answered).toBeLessThan(100);
});

test('a decision that may be carried over; those of the slow host are carried over bit by bit', async () => {
  const old = ['1', '2', '3'].map((name) => `${quick.url}/old-${name}.png`);
  for (const url of old) {
    quick.files.set(new URL(url).pathname, { bytes });
    for (const application_id of ['slow', 'quick'])
      await pictures.refresh({ application_id, url }, 'look', signal);
  }
  const games = Array.from({ length: 60 }, (_, n) => `g-${n}`);
  for (const id of games) {
    await pass(await land('slow', id, old));
    await land('slow', id, atSlow(3));
  }
  await pass(await land('quick', 'g', old.slice(0, 1)));
  await land('quick', 'g', [atQuick()]);
  const carry = () => carryOverDecisionsJob.handler({}, { deps, signal } as never);
  await carry();
  expect(answered).toBeLessThan(100);
  expect(await oneGame(database.sql, 'quick', 'g')).toMatchObject({ audit_status: 'passed', revision: 2 });
  const isCarried = async () => (await database.sql`select from changed_games`).length === 0;
  await until('every decision is carried over', async () => {
    await database.sql`update pictures set fresh_until = now()`;
    await database.sql`update changed_games set carry_at = now()`;
    await carry();
    return isCarried();
  });
});

test('a game that a reviewer opens', async () => {
  const place = { databaseUrl: database.databaseUrl, redisUrl: undefined, prefix: `test-${randomUUID()}` };
  await using stack = new AsyncDisposableStack();
  const backend = openQueueBackend({ ...place, use: 'worker', onError: () => {} });
  stack.defer(() => backend.close());
  await backend.migrate();
  const producer = createProducer(backend, [fetchPictures], () => {});
  stack.defer(() => producer.close());
  const open = (game_id: string) => producer.add(fetchPictures, { game_ids: [game_id], icons_only: false });
  for (let n = 0; n < 40; n += 1) await open(await land('slow', `g-${n}`, atSlow(10)));
  await open(await land('quick', 'g', [atQuick()]));
  const logger = pino({ level: 'silent' });
  const runner = startRunner(backend, [fetchPicturesJob], deps, localClock, logger, () => {});
  stack.defer(() => runner.stop(0));
  await until('the quick host is asked', async () => answered !== undefined);
  expect(answered).toBeLessThan(150);
});
