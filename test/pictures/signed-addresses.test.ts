import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { findFetchingGames } from '#db/queries/fetching-games.ts';
import { upsertGames } from '#db/queries/games.ts';
import { listPins, takeDuePictures } from '#db/queries/picture-pins.ts';
import { findPictures } from '#db/queries/pictures.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import type { Pictures } from '#src/pictures/refresh.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { explainPicture } from '#src/rules/pictures.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';
import { startPictures } from '#test/support/picture-refresh.ts';
import { aPicture, type PictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const signal = new AbortController().signal;
let server: PictureServer;
let pictures: Pictures;
let close: () => Promise<void>;
let media: Database;

beforeAll(async () => {
  media = database.as('media');
  ({ server, pictures, close } = await startPictures(media));
  await addApplication(database.sql, 'acme');
  await addApplication(database.sql, 'other');
});
afterAll(() => close?.());

/** Answers at every signature of a path, as the file of this path. */
const serve = (path: string, bytes: Buffer, expires: (seconds: number) => boolean = () => false) => {
  const file = { bytes, etag: `"${bytes.length}"` };
  for (let seconds = 0; seconds < 20; seconds += 1) {
    const query = `?AccessKeyId=k&Expires=${seconds}&Signature=s${seconds}`;
    server.files.set(path + query, expires(seconds) ? { ...file, status: 403 } : file);
  }
};
const signed = (path: string, seconds: number) =>
  `${server.url}${path}?AccessKeyId=k&Expires=${seconds}&Signature=s${seconds}`;

const land = (
  game_id: string,
  urls: string[],
  minute: number,
  application_id = 'acme',
  names: string[] = [],
) => {
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute));
  const game = fetchedGame({ game_id, game_icon: [], game_store_pic: urls }, at, {}, identityRule(names));
  return upsertGames(database.sql, application_id, [game]);
};
const gameOf = async (application_game_id: string) => {
  const [game] = await database.sql<{ game_id: string; audit_status: string; revision: number }[]>`
    select game_id, audit_status, revision from games where application_game_id = ${application_game_id}`;
  if (game === undefined) throw new Error('no game');
  return game;
};
const pass = async (application_game_id: string) => {
  const { game_id, revision } = await gameOf(application_game_id);
  const { games } = await decideGames(database.sql, [{ game_id, revision }], { audit_status: 'passed' }, KIM);
  expect(games[0]?.result).toBe('decided');
};
const look = (url: string, application_id = 'acme') =>
  pictures.refresh({ url, application_id }, 'look', signal);
const setRule = (names: string[]) =>
  database.sql`update applications set volatile_parameters = ${names} where application_id = 'acme'`;
const recheck = async () => {
  await database.sql`update pictures set fresh_until = now(), next_check_at = now() where next_check_at is not null`;
  const deps = { sql: media, pictures, recheckMs: 3_600_000 };
  return recheckPicturesJob.handler({}, { deps, signal } as never);
};

test('an address that is signed anew has the picture of before: one row, no second request, the decision holds', async () => {
  serve('/a.png', await aPicture(1));
  await land('g-a', [signed('/a.png', 1)], 1);
  await look(signed('/a.png', 1));
  await pass('g-a');
  await land('g-a', [signed('/a.png', 2)], 2);
  server.requests.length = 0;
  expect(await look(signed('/a.png', 2))).toMatchObject({ outcome: undefined });
  expect(server.requests).toEqual([]);
  const address = { application_id: 'acme', url: signed('/a.png', 3) };
  const view = (await findPictures(database.sql, [address])).get(address);
  expect(view).toMatchObject({ outcome: 'shown', has_thumbnail: true });
  expect([...(await listPins(database.sql, (await gameOf('g-a')).game_id))]).toEqual([
    [view?.picture_id, view?.sha256],
  ]);
  expect(await gameOf('g-a')).toMatchObject({ audit_status: 'passed', revision: 1 });
});

test('a check requests the address that the game has now: the one of the decision has ended', async () => {
  serve('/b.png', await aPicture(2), (seconds) => seconds < 5);
  await land('g-b', [signed('/b.png', 5)], 1);
  await look(signed('/b.png', 5));
  await pass('g-b');
  serve('/b.png', await aPicture(2), (seconds) => seconds < 9);
  await land('g-b', [signed('/b.png', 9)], 2);
  server.requests.length = 0;
  await recheck();
  expect(server.requests.filter(({ path }) => path.startsWith('/b.png'))).toMatchObject([
    { path: signed('/b.png', 9).slice(server.url.length), status: 304 },
  ]);
  expect(await gameOf('g-b')).toMatchObject({ audit_status: 'passed' });
});

test.each([403, 404, 302])(
  'a picture that was refused (%i) because its address had ended says so, and is requested at the next address',
  async (status) => {
    const path = `/ended-${status}.png`;
    const file = { bytes: await aPicture(5), etag: '"e"' };
    const [ended, next] = [signed(path, 5), signed(path, 4_000_000_000)];
    server.files.set(ended.slice(server.url.length), { ...file, status });
    server.files.set(next.slice(server.url.length), file);
    const name = `ended-${status}`;
    /** Does the game wait for its picture, when its address is this one? */
    const isAwaitedAt = async (url: string, minute: number) => {
      await land(name, [url], minute);
      return (await findFetchingGames(database.sql, [(await gameOf(name)).game_id])).size > 0;
    };
    const explain = async (url: string) => {
      const address = { application_id: 'acme', url };
      const picture = (await findPictures(database.sql, [address])).get(address);
      return picture?.outcome && explainPicture(picture.outcome, picture);
    };
    await look(ended);
    expect(await explain(ended)).toMatch(/: its signed address had ended$/);
    expect(await isAwaitedAt(ended, 1)).toBe(false);
    expect(await explain(next)).toBeNull();
    expect(await isAwaitedAt(next, 2)).toBe(true);
    // A look shortly after a run or a pull has read the next address.
    await database.sql`update pictures set fresh_until = fresh_until - interval '15 seconds'`;
    expect(await look(next)).toMatchObject({ outcome: 'shown' });
    expect(await explain(next)).toBe('shown');
  },
);

test('one picture that was swapped under a new signature is found by the next check, a hundred of a hundred', async () => {
  const names = Array.from({ length: 100 }, (_, n) => `swapped-${n}`);
  const bytes = await aPicture(3);
  for (const name of names) {
    serve(`/${name}.png`, bytes);
    await land(name, [signed(`/${name}.png`, 1)], 1);
    await look(signed(`/${name}.png`, 1));
    await pass(name);
  }
  const other = await aPicture(4);
  for (const name of names) {
    serve(`/${name}.png`, other);
    await land(name, [signed(`/${name}.png`, 2)], 2);
    expect(await gameOf(name)).toMatchObject({ audit_status: 'passed' });
  }
  // A host that takes long, as on a busy machine, gives some of the pictures at a later check.
  let drifted = 0;
  await until('a hundred of a hundred', async () => {
    drifted += Number((await recheck())?.drifted);
    return drifted >= 100;
  });
  expect(drifted).toBe(100);
  for (const name of names)
    expect(await gameOf(name)).toMatchObject({ audit_status: 'pending', revision: 1 });
});

test('another application that lists the same address has a picture of its own, and spoils nothing', async () => {
  serve('/c.png', await aPicture(5));
  await land('g-c', [signed('/c.png', 1)], 1);
  await look(signed('/c.png', 1));
  await pass('g-c');
  const bad = `${server.url}/c.png?AccessKeyId=k&Expires=1&Signature=forged`;
  await land('g-c-other', [bad], 1, 'other');
  expect(await look(bad, 'other')).toMatchObject({ outcome: 'not_found' });
  const of = async (application_id: string, url: string) =>
    (await findPictures(database.sql, [{ application_id, url }])).get({ application_id, url });
  expect(await of('acme', signed('/c.png', 1))).toMatchObject({ outcome: 'shown', url: signed('/c.png', 1) });
  expect(await of('other', bad)).toMatchObject({ outcome: 'not_found' });
});

test('a new rule of identities leaves each decision bound to its bytes, in both directions', async () => {
  const url = (t: number) => `${server.url}/d.png?t=${t}`;
  for (let t = 0; t < 10; t += 1) server.files.set(`/d.png?t=${t}`, { bytes: await aPicture(6) });
  await land('g-d', [url(1)], 1);
  await land('g-e', [url(2)], 1);
  await land('g-none', [], 1);
  for (const t of [1, 2]) await look(url(t));
  for (const name of ['g-d', 'g-e', 'g-none']) await pass(name);
  const idsOf = async () => {
    const ids = [];
    for (const name of ['g-d', 'g-e'])
      ids.push([...(await listPins(database.sql, (await gameOf(name)).game_id)).keys()]);
    return ids.flat();
  };
  const before = await idsOf();
  expect(new Set(before)).toHaveProperty('size', 2);
  await recheck();
  await setRule(['t']);
  await land('g-d', [url(3)], 2, 'acme', ['t']);
  await land('g-e', [url(4)], 2, 'acme', ['t']);
  expect(await recheck()).toMatchObject({ identified: 2, drifted: 0 });
  const joined = await idsOf();
  expect(new Set(joined)).toHaveProperty('size', 1);
  expect(joined).not.toContain(before[0]);
  // The picture is watched under its new identity.
  for (let t = 0; t < 10; t += 1) server.files.set(`/d.png?t=${t}`, { bytes: await aPicture(7) });
  expect(await recheck()).toMatchObject({ identified: 0, drifted: 2 });
  for (const name of ['g-d', 'g-e']) await pass(name);
  await setRule([]);
  // Each game has two decisions on its content.
  expect(await recheck()).toMatchObject({ identified: 4, drifted: 0 });
  expect(new Set(await idsOf())).toHaveProperty('size', 2);
  expect((await takeDuePictures(media, 100, 1_000)).due).toEqual([]);
});

test('a decision that stands again after an undo is bound to its bytes, though the rule changed meanwhile', async () => {
  const url = `${server.url}/f.png?t=1`;
  server.files.set('/f.png?t=1', { bytes: await aPicture(8) });
  await land('g-f', [url], 1);
  await look(url);
  await pass('g-f');
  const { game_id } = await gameOf('g-f');
  const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
  const { games } = await decideGames(database.sql, [{ game_id, revision: 1 }], rejection, KIM);
  await setRule(['t']);
  await recheck();
  await undoGameDecisions(database.sql, [games[0]?.game?.last?.audit_id ?? 0], KIM);
  expect(await gameOf('g-f')).toMatchObject({ audit_status: 'passed' });
  server.files.set('/f.png?t=1', { bytes: await aPicture(9) });
  expect(await recheck()).toMatchObject({ drifted: 1 });
  expect(await gameOf('g-f')).toMatchObject({ audit_status: 'pending' });
});

test('a decision of a process that knew the former rule is bound to its bytes', async () => {
  const names = ['g-g', 'g-h'];
  const urls = names.map((name) => `${server.url}/${name}.png?t=1`);
  for (const [index, name] of names.entries()) {
    server.files.set(`/${name}.png?t=1`, { bytes: await aPicture(20 + index) });
    await land(name, [urls[index] ?? ''], 1, 'acme', ['t']);
  }
  await setRule([]);
  for (const url of urls) await look(url);
  await setRule(['t']);
  await recheck();
  for (const url of urls) await look(url);
  // The rule changes while a process decides.
  await setRule([]);
  for (const name of names) await pass(name);
  await setRule(['t']);
  await recheck();
  await recheck();
  for (const [index, name] of names.entries())
    server.files.set(`/${name}.png?t=1`, { bytes: await aPicture(30 + index) });
  expect(await recheck()).toMatchObject({ identified: 0, drifted: 2 });
  for (const name of names) expect(await gameOf(name)).toMatchObject({ audit_status: 'pending' });
});
