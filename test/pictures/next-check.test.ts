import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import type { Decision } from '#src/contract/words.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { openFileStore } from '#src/picture-store/file-store.ts';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { createPictureKeeper, type PictureKeeper } from '#src/pictures/keeper.ts';
import { createPictures, type Pictures } from '#src/pictures/refresh.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGames, removeApplication, undoGameDecisions } from '#test/support/operate.ts';
import { aPicture, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const { signal } = new AbortController();
const recheckMs = 7 * 86_400_000;
let server: PictureServer;
let decoder: Decoder;
let media: Database;

beforeAll(async () => {
  server = await startPictureServer();
  decoder = createDecoder();
  media = database.as('media');
});
afterAll(async () => {
  decoder.close();
  await server.close();
});

/** A media process, without what the ones before know of hosts. */
const openPictures = (keeper?: PictureKeeper, decode = decoder.decode): Pictures => {
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  const reopenGames = createReopenGames(media);
  const pictures = createPictures({
    sql: media,
    egress,
    decoder: { ...decoder, decode },
    keeper,
    maxBytes: 10_000_000,
    recheckMs,
    reopenGames,
  });
  onTestFinished(pictures.close);
  return pictures;
};
const check = (pictures: Pictures, keeper?: PictureKeeper) =>
  recheckPicturesJob.handler({}, { deps: { sql: media, pictures, keeper, recheckMs }, signal } as never);

/** Lands a game with one picture, of an application of its own. */
const land = async (application_id: string, status: number, bytes?: Buffer) => {
  const path = `/${application_id}.png`;
  server.files.set(path, { bytes: bytes ?? (await aPicture(1)), status });
  const url = server.url + path;
  await addApplication(database.sql, application_id);
  const game = fetchedGame({ game_id: 'g', game_icon: [], game_store_pic: [url] });
  await upsertGames(database.sql, application_id, [game]);
  const { game_id } = await oneGame(database.sql, application_id, 'g');
  return { game_id, url, application_id };
};
const decide = async (game_id: string, audit_status: Decision) => {
  const why = audit_status === 'passed' ? { audit_status } : { audit_status, reason: 'rights' };
  const { games } = await decideGames(database.sql, [{ game_id, revision: 1 }], why as never, KIM);
  expect(games[0]?.result).toBe('decided');
};
const nextCheckOf = async (url: string) => {
  const [row] = await database.sql<{ next: string }[]>`
    select case when next_check_at is null then 'none' when next_check_at <= now() + interval '1 hour' then 'within an hour'
      else 'later' end as next
    from pictures where url = ${url}`;
  return row?.next;
};

test('a failure that a look has just seen is repeated within an hour of the decision, without a request at once', async () => {
  const pictures = openPictures();
  const { game_id, url, application_id } = await land('failed', 500);
  expect(await pictures.refresh({ url, application_id }, 'look', signal)).toMatchObject({
    outcome: 'http_error',
  });
  await decide(game_id, 'passed');
  expect(await check(pictures)).toMatchObject({ requested: 0 });
  expect(await nextCheckOf(url)).toBe('within an hour');
});

test('a picture that a look has just seen is requested again after PICTURE_RECHECK', async () => {
  const pictures = openPictures();
  const { game_id, url, application_id } = await land('seen', 200);
  await pictures.refresh({ url, application_id }, 'look', signal);
  await decide(game_id, 'passed');
  expect(await check(pictures)).toMatchObject({ requested: 0 });
  expect(await nextCheckOf(url)).toBe('later');
});

test('a check that another request forestalls is repeated within an hour, because this one may fail', async () => {
  const pictures = openPictures();
  const { game_id, url } = await land('claimed', 200);
  await decide(game_id, 'passed');
  await database.sql`update pictures set fresh_until = now() + interval '1 minute' where url = ${url}`;
  expect(await check(pictures)).toMatchObject({ requested: 0 });
  expect(await nextCheckOf(url)).toBe('within an hour');
});

test('a check that is made due while the one before it runs stays due', async () => {
  const pictures = openPictures();
  const { game_id, url, application_id } = await land('returned', 200);
  await pictures.refresh({ url, application_id }, 'look', signal);
  await decide(game_id, 'passed');
  const compare = async (picture_id: string) => {
    const drifted = await pictures.compare(picture_id);
    // As an undo does, or a game that a listing names again.
    await database.sql`update pictures set next_check_at = now() where picture_id = ${picture_id}`;
    return drifted;
  };
  await check({ ...pictures, compare });
  expect(await nextCheckOf(url)).toBe('within an hour');
  await check(pictures);
  expect(await nextCheckOf(url)).toBe('later');
});

test('a check that the decoder holds up is made after the pause', async () => {
  const slowly: Decoder['decode'] = (picture, spend) => decoder.decode(picture, () => spend?.(10_000));
  const pictures = openPictures(undefined, slowly);
  const { game_id, url, application_id } = await land('slow', 200);
  server.files.set('/other.png', { bytes: await aPicture(2) });
  await pictures.refresh({ url: `${server.url}/other.png`, application_id }, 'look', signal);
  await decide(game_id, 'passed');
  expect(await check(pictures)).toMatchObject({ requested: 0 });
  expect(await nextCheckOf(url)).toBe('within an hour');
});

test('bytes that the store did not keep are requested again within an hour', async () => {
  const logger = pino({ level: 'silent' });
  const store = openFileStore('/dev/null/store');
  const keeper = createPictureKeeper({ sql: media, store, keepMs: recheckMs, logger });
  const pictures = openPictures(keeper);
  const { game_id, url } = await land('unkept', 200);
  await decide(game_id, 'passed');
  expect(await check(pictures, keeper)).toMatchObject({ requested: 1 });
  expect(await nextCheckOf(url)).toBe('within an hour');
});

test('the first bytes of a picture that no decision waits for any longer are not requested', async () => {
  const pictures = openPictures();
  const removed = await land('removed', 500);
  const undone = await land('undone', 500);
  await decide(removed.game_id, 'rejected');
  await decide(undone.game_id, 'passed');
  await check(pictures);
  expect(await nextCheckOf(removed.url)).toBe('within an hour');
  await removeApplication(database.sql, 'removed');
  const [audit] = await database.sql<{ audit_id: number }[]>`
    select audit_id from game_audits where game_id = ${undone.game_id}`;
  await undoGameDecisions(database.sql, [audit?.audit_id ?? 0], KIM);
  await database.sql`update pictures set next_check_at = now(), fresh_until = now() where next_check_at is not null`;
  const { length } = server.requests;
  await check(pictures);
  expect([await nextCheckOf(removed.url), await nextCheckOf(undone.url)]).toEqual(['none', 'none']);
  const since = server.requests.slice(length).map(({ path }) => server.url + path);
  expect(since).not.toContain(removed.url);
  expect(since).not.toContain(undone.url);
});

test('of a game that was rejected long ago, as one that was imported, a picture is requested once', async () => {
  const pictures = openPictures();
  const { game_id, url } = await land('imported', 500);
  await decide(game_id, 'rejected');
  await database.sql`update game_audits set decided_at = now() - interval '8 days' where game_id = ${game_id}`;
  expect(await check(pictures)).toMatchObject({ requested: 1 });
  expect(await nextCheckOf(url)).toBe('within an hour');
  await database.sql`update pictures set next_check_at = now(), fresh_until = now() where url = ${url}`;
  expect(await check(pictures)).toMatchObject({ requested: 0 });
  expect(await nextCheckOf(url)).toBe('none');
});
