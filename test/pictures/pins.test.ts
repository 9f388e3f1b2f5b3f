import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { pruneThumbnails } from '#db/queries/picture-keeping.ts';
import { listPins, takeDuePictures } from '#db/queries/picture-pins.ts';
import { findPictures, readThumbnail } from '#db/queries/pictures.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { comparePins } from '#src/pictures/compare-pins.ts';
import type { Pictures } from '#src/pictures/refresh.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';
import { startPictures } from '#test/support/picture-refresh.ts';
import { aPicture, type PictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const signal = new AbortController().signal;
let server: PictureServer;
let pictures: Pictures;
let close: () => Promise<void>;
let reviewer: Database;

beforeAll(async () => {
  ({ server, pictures, close } = await startPictures(database.as('media')));
  reviewer = database.as('console');
  await addApplication(database.sql, 'acme');
});
afterAll(() => close?.());

let next = 0;
/** Lands a game with one picture. */
const land = async (bytes?: Buffer) => {
  next += 1;
  const path = `/${next}.png`;
  if (bytes !== undefined) server.files.set(path, { bytes, etag: `"${next}"` });
  const url = server.url + path;
  const game = fetchedGame({ game_id: `g-${next}`, game_icon: [], game_store_pic: [url] });
  await upsertGames(database.sql, 'acme', [game]);
  const replace = (other: Buffer, etag = '"other"') => server.files.set(path, { bytes: other, etag });
  return { game_id: game.game_id, path, url, replace };
};
const look = async (url: string) => {
  await database.sql`update pictures set fresh_until = null where url = ${url}`;
  return pictures.refresh({ url, application_id: 'acme' }, 'check', signal);
};
const pass = (game_id: string, seen_pictures?: Record<string, string>) =>
  decideGames(
    reviewer,
    [{ game_id, revision: 1, ...(seen_pictures && { seen_pictures }) }],
    { audit_status: 'passed' },
    KIM,
  );
const statusOf = async (game_id: string) =>
  (
    await database.sql<{ audit_status: string }[]>`select audit_status from games where game_id = ${game_id}`
  )[0]?.audit_status;
const viewOf = async (url: string) => {
  const address = { application_id: 'acme', url };
  return (await findPictures(database.sql, [address])).get(address);
};

test('bytes that a reviewer did not see are not passed', async () => {
  const { game_id, url, replace } = await land(await aPicture(1));
  await look(url);
  const { picture_id = '', sha256 } = (await viewOf(url)) ?? {};
  replace(await aPicture(2));
  await look(url);
  const seen = { [picture_id]: sha256 ?? '' };
  expect((await pass(game_id, seen)).games[0]?.result).toBe('picture_moved');
  expect(await statusOf(game_id)).toBe('pending');
  const now = { [picture_id]: (await viewOf(url))?.sha256 ?? '' };
  expect((await pass(game_id, now)).games[0]?.result).toBe('decided');
  expect([...(await listPins(database.sql, game_id))]).toEqual(Object.entries(now));
});

test('an unchanged picture costs one conditional request, a failure or a redirect changes nothing and is told', async () => {
  const { game_id, url, path } = await land(await aPicture(3));
  await look(url);
  await pass(game_id);
  server.requests.length = 0;
  expect(await look(url)).toMatchObject({ outcome: 'shown', drifted: [] });
  expect(server.requests).toMatchObject([{ status: 304, headers: { 'if-none-match': expect.any(String) } }]);
  for (const [status, outcome] of [
    [404, 'not_found'],
    [302, 'redirect'],
    [500, 'http_error'],
  ] as const) {
    server.files.set(path, { bytes: await aPicture(4), status });
    expect(await look(url)).toMatchObject({ outcome, drifted: [] });
    expect(await viewOf(url)).toMatchObject({ outcome, http_status: status, has_thumbnail: true });
  }
  expect(await statusOf(game_id)).toBe('passed');
});

test.each([
  ['another picture', () => aPicture(5)],
  ['an SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['more bytes than are read', async () => Buffer.alloc(300_000)],
])(
  '%s behind the address of a passed game returns it to the changed lane, with the reason',
  async (_what, other) => {
    const { game_id, url, replace } = await land(await aPicture(6));
    await look(url);
    await pass(game_id);
    replace(await other());
    expect(await look(url)).toMatchObject({ drifted: [game_id] });
    expect(await statusOf(game_id)).toBe('pending');
    const entries = () =>
      listAudit(database.sql, { subject: `game:${game_id}`, action: 'game.reopen', limit: 9 });
    expect(await entries()).toMatchObject([{ actor: 'media', actor_kind: 'system' }]);
    const [row] = await database.sql`
    select c.before <> c.after as differs, g.revision, g.audit_time, l.decided_revision
    from picture_changes c join games g using (game_id) join changed_games l using (game_id)
    where game_id = ${game_id}`;
    expect(row).toEqual({
      differs: true,
      revision: 1,
      audit_time: null,
      decided_revision: 1,
    });
    // It is told once, and stands when it is passed again.
    expect(await look(url)).toMatchObject({ drifted: [] });
    await pass(game_id);
    expect(await look(url)).toMatchObject({ drifted: [] });
    expect(await statusOf(game_id)).toBe('passed');
    expect(await entries()).toHaveLength(1);
  },
);

test('an address without a request before the decision is bound to its first bytes', async () => {
  const { game_id, url, replace } = await land(await aPicture(7));
  await pass(game_id);
  expect([...(await listPins(database.sql, game_id))]).toEqual([]);
  expect(await look(url)).toMatchObject({ drifted: [] });
  expect([...(await listPins(database.sql, game_id)).values()]).toEqual([(await viewOf(url))?.sha256]);
  replace(await aPicture(8));
  expect(await look(url)).toMatchObject({ drifted: [game_id] });
});

test('a game that was passed without bytes returns when there are some', async () => {
  const { game_id, url, replace } = await land();
  expect(await look(url)).toMatchObject({ outcome: 'not_found' });
  await pass(game_id);
  expect([...(await listPins(database.sql, game_id)).values()]).toEqual(['']);
  replace(await aPicture(9));
  expect(await look(url)).toMatchObject({ drifted: [game_id] });
});

test('a game that is rejected, or whose decision was undone, is left alone', async () => {
  const [rejected, undone] = [await land(await aPicture(10)), await land(await aPicture(11))];
  await Promise.all([rejected, undone].map(({ url }) => look(url)));
  const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
  await decideGames(database.sql, [{ game_id: rejected.game_id, revision: 1 }], rejection, KIM);
  await pass(undone.game_id);
  const [audit] = await database.sql<{ audit_id: number }[]>`
    select audit_id from game_audits where game_id = ${undone.game_id}`;
  await undoGameDecisions(reviewer, [audit?.audit_id ?? 0], KIM);
  for (const { url, replace } of [rejected, undone]) {
    replace(await aPicture(12));
    expect(await look(url)).toMatchObject({ outcome: 'shown', drifted: [] });
  }
  expect([await statusOf(rejected.game_id), await statusOf(undone.game_id)]).toEqual(['rejected', 'pending']);
});

test('of pictures that are not shown, a decided one keeps its smallest thumbnail, and others keep nothing', async () => {
  const { sql } = database;
  const [decided, other] = [await land(await aPicture(13)), await land(await aPicture(14))];
  await Promise.all(
    [decided, other].map(({ url }) => pictures.refresh({ url, application_id: 'acme' }, 'look', signal)),
  );
  await pass(decided.game_id);
  const hashes = [(await viewOf(decided.url))?.sha256 ?? '', (await viewOf(other.url))?.sha256 ?? ''];
  expect(await pruneThumbnails(sql, 86_400_000, 500)).toBe(0);
  await sql`update picture_contents set looked_at = now() - interval '2 days'`;
  expect(await pruneThumbnails(sql, 86_400_000, 500)).toBeGreaterThanOrEqual(2);
  expect(await pruneThumbnails(sql, 86_400_000, 500)).toBe(0);
  const widths = await sql`
    select encode(sha256, 'hex') as sha256, array_agg(width::int) as widths from picture_thumbnails
    where sha256 in (select decode(hash, 'hex') from unnest(${hashes}::text[]) hash) group by 1`;
  expect(widths).toEqual([{ sha256: hashes[0], widths: [64] }]);
  expect(await viewOf(decided.url)).toMatchObject({
    has_thumbnail: true,
    whole: false,
    bytes: expect.any(Number),
  });
  expect(await readThumbnail(sql, hashes[0] ?? '', 1024)).toBeInstanceOf(Buffer);
  // The next look makes them again.
  await sql`update pictures set fresh_until = null`;
  await pictures.refresh({ url: decided.url, application_id: 'acme' }, 'look', signal);
  expect(await viewOf(decided.url)).toMatchObject({ whole: true, outcome: 'shown' });
});

test('a withdrawn game keeps its status when its picture changes; its pictures are compared when it returns', async () => {
  const { game_id, url, replace } = await land(await aPicture(30));
  await look(url);
  await pass(game_id);
  await database.sql`update games set withdrawn_at = now() where game_id = ${game_id}`;
  replace(await aPicture(31));
  expect(await look(url)).toMatchObject({ drifted: [] });
  expect(await statusOf(game_id)).toBe('passed');
  const isDue = async () =>
    (await takeDuePictures(database.as('media'), 100, 60_000)).due.some((due) => due.url === url);
  await isDue();
  expect(await isDue()).toBe(false);

  await database.as('worker')`update games set withdrawn_at = null where game_id = ${game_id}`;
  expect(await isDue()).toBe(true);
  const { picture_id = '' } = (await viewOf(url)) ?? {};
  const media = database.as('media');
  expect(await comparePins(media, picture_id, createReopenGames(media))).toEqual([game_id]);
  expect(await statusOf(game_id)).toBe('pending');
  const events = await database.sql`
    select type, data ->> 'why' as why from events where game_id = ${game_id} order by event_number`;
  expect(events.map(({ type, why }) => `${type} ${why}`)).toEqual([
    'game.passed decided',
    'game.withdrawn not_listed',
    'game.passed returned',
    'game.pending pictures_changed',
  ]);
});
