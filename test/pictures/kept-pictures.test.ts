import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeRun } from '#db/queries/runs.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import type { Platform } from '#src/operations/operation.ts';
import { removeApplication } from '#src/operations/remove-application.ts';
import { acceptWithdrawals } from '#src/operations/withdrawals.ts';
import { openFileStoreWorld, type StoreWorld } from '#test/pictures/store-world.ts';
import { anOpenRun, KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestProducer } from '#test/support/queue.ts';

let directory: string;
let world: StoreWorld;
beforeAll(async () => {
  ({ directory, world } = await openFileStoreWorld());
});
afterAll(() => world.close());
const producer = useTestProducer({
  get databaseUrl() {
    return world.api.databaseUrl;
  },
});

const filesIn = async (area: string): Promise<string[]> =>
  (await readdir(join(directory, area), { recursive: true })).filter((name) => name.includes('.')).toSorted();
const download = async (url: string) => {
  const response = await fetch(url);
  return response.ok ? Buffer.from(await response.arrayBuffer()) : response.status;
};
const nameOf = (bytes: Buffer): string => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return `${sha256.slice(0, 2)}/${sha256}.png`;
};
/** A passed game, whose pictures are public. */
const passGame = async (id: string, seeds: readonly number[]): Promise<Buffer[]> => {
  const bytes = await world.serve(id, seeds);
  await world.land(id);
  await world.look(id);
  expect(await world.decide(id)).toBe('decided');
  await world.tidy(id);
  return bytes;
};

test('the bytes of a game are private until it passes, then public at addresses of their own, and private again when it is rejected', async () => {
  const bytes = await world.serve('g-a', [1, 2, 3]);
  await world.land('g-a');
  await world.look('g-a');
  expect(await filesIn('seen')).toHaveLength(3);
  const before = await world.addressesOf('g-a');
  expect(before.every((url) => url.startsWith(world.server.url))).toBe(true);
  expect(await world.decide('g-a')).toBe('decided');
  await world.tidy('g-a');
  const addresses = await world.addressesOf('g-a');
  expect(addresses).toHaveLength(3);
  expect(await Promise.all(addresses.map(download))).toEqual(bytes);
  expect(await filesIn('seen')).toEqual([]);
  expect(await world.detail('g-a')).toMatchObject({
    audit_status: 'passed',
    game_icon: [expect.stringMatching(/\/pictures\/[0-9a-f]{64}\.png$/)],
  });
  expect(await world.decide('g-a', 'rejected')).toBe('decided');
  await world.tidy('g-a');
  expect(await world.addressesOf('g-a')).toEqual(before);
  expect(await Promise.all(addresses.map(download))).toEqual([404, 404, 404]);
  await world.undo('g-a');
  await world.recheck();
  expect(await Promise.all((await world.addressesOf('g-a')).map(download))).toEqual(bytes);
});

test('an application that answers players with other bytes than the reviewer does not change what group A serves', async () => {
  const bytes = await passGame('g-b', [4, 5, 6]);
  const addresses = await world.addressesOf('g-b');
  const others = await world.serve('g-b', [7, 8, 9]);
  expect(await Promise.all((await world.addressesOf('g-b')).map(download))).toEqual(bytes);
  expect(await world.recheck()).toMatchObject({ drifted: 1 });
  expect(await world.statusOf('g-b')).toBe('pending');
  // What nobody has passed is at no public address, though a reviewer sees it now.
  const seen = await filesIn('seen');
  for (const name of seen) expect(await download(`${world.api.url}/pictures/${name.slice(3)}`)).toBe(404);
  await world.tidy();
  expect(await Promise.all(addresses.map(download))).toEqual([404, 404, 404]);
  await world.look('g-b');
  expect(await world.decide('g-b')).toBe('decided');
  await world.tidy('g-b');
  expect(await Promise.all((await world.addressesOf('g-b')).map(download))).toEqual(others);
});

test('a stolen media process stores no picture that the API cannot name: the game would have no answer', async () => {
  const bytes = await passGame('g-odd', [90, 91]);
  for (const odd of [{ format: 'constructor' }, { format: null }, { sha256: Buffer.from('../../x') }])
    await expect(
      world.media`update picture_contents set ${world.media(odd)} where sha256 = ${createHash('sha256')
        .update(bytes[0] ?? '')
        .digest()}`,
    ).rejects.toMatchObject({ code: '23514' });
  expect(await Promise.all((await world.addressesOf('g-odd')).map(download))).toEqual(bytes);
});

test('a picture that two games have stays public while one of them is passed', async () => {
  await passGame('g-f', [20, 21, 22]);
  const bytes = await passGame('g-g', [20, 21, 23]);
  expect(await world.decide('g-f', 'rejected')).toBe('decided');
  await world.tidy('g-f');
  expect(await Promise.all((await world.addressesOf('g-g')).map(download))).toEqual(bytes);
});

test('a game that is withdrawn takes its pictures back within the hour', async () => {
  await passGame('g-h', [30, 31, 32]);
  const addresses = await world.addressesOf('g-h');
  await world.api.sql`update games set withdrawn_at = now() where application_game_id = 'g-h'`;
  await world.tidy();
  expect(await Promise.all(addresses.map(download))).toEqual([404, 404, 404]);
});

test('bytes that no decision names go after PICTURE_KEEP; those that a decision names stay', async () => {
  const decided = await passGame('g-i', [40, 41, 42]);
  const others = await world.serve('g-j', [43, 44, 45]);
  await world.land('g-j');
  await world.look('g-j');
  await world.tidy();
  expect(await filesIn('seen')).toEqual(expect.arrayContaining(others.map(nameOf)));
  await world.api.sql`update picture_contents set looked_at = now() - interval '2 hours'`;
  await world.tidy();
  for (const bytes of others) expect(await filesIn('seen')).not.toContain(nameOf(bytes));
  expect(await Promise.all((await world.addressesOf('g-i')).map(download))).toEqual(decided);
  // A reviewer opens the game again.
  await world.recheck();
  await world.look('g-j');
  expect(await world.decide('g-j')).toBe('decided');
});

test('a picture that cannot be moved holds up none behind it, and fails the pass at its end', async () => {
  const passed = [await passGame('g-k', [60, 61, 62]), await passGame('g-l', [63, 64, 65])].flat();
  const addresses = [await world.addressesOf('g-k'), await world.addressesOf('g-l')].flat();
  const unnamed = await world.serve('g-m', [66, 67, 68]);
  await world.land('g-m');
  await world.look('g-m');
  const [lost] = passed.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  if (lost === undefined) throw new Error('no picture');
  const path = join(directory, 'passed', nameOf(lost));
  await rm(path);
  await world.api.sql`update games set withdrawn_at = now() where application_game_id in ('g-k', 'g-l')`;
  await world.api.sql`update picture_contents set looked_at = now() - interval '2 hours'`;
  await expect(world.tidy()).rejects.toMatchObject({ code: 'missing' });
  expect(await Promise.all(addresses.map(download))).toEqual(addresses.map(() => 404));
  const seen = await filesIn('seen');
  for (const bytes of unnamed) expect(seen).not.toContain(nameOf(bytes));
  await writeFile(path, lost);
  await world.tidy();
});

test('a pass and the deletion of its pictures at one moment leave no passed game without bytes', async () => {
  for (let round = 0; round < 12; round += 1) {
    const id = `race-${round}`;
    await world.serve(id, [100 + round * 3, 101 + round * 3, 102 + round * 3]);
    await world.land(id);
    await world.look(id);
    await world.api.sql`update picture_contents set looked_at = now() - interval '2 hours'`;
    const [result] = await Promise.all([world.decide(id), world.tidy()]);
    if (result === 'fetching') {
      await world.look(id);
      expect(await world.decide(id)).toBe('decided');
    }
    await world.tidy(id);
    const found = await Promise.all((await world.addressesOf(id)).map(download));
    expect(found.filter((each) => Buffer.isBuffer(each))).toHaveLength(3);
  }
});

const platform: Partial<Platform> = { keepsPictures: true, producer };
const acme = { application_id: 'acme' };
const gone = [404, 404, 404];
/** Downloads pictures after an operation and the jobs that it has added. */
const downloadAfter = async (act: Promise<unknown>, addresses: readonly string[]) => {
  await act;
  await world.drain(await producer());
  return Promise.all(addresses.map(download));
};

test('a hold and an accepted withdrawal take pictures back at once, and a release makes them public again', async () => {
  const { sql } = world.api;
  const bytes = await passGame('g-n', [70, 71, 72]);
  const addresses = await world.addressesOf('g-n');
  const after = (act: Promise<unknown>) => downloadAfter(act, addresses);
  const hold = { ...acme, reason: 'a complaint' };
  expect(await after(operateAs(sql, KIM, holdApplication, hold, platform))).toEqual(gone);
  expect(await after(operateAs(sql, KIM, releaseApplication, acme, platform))).toEqual(bytes);
  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  await sql`
    insert into vanishing_games (run_id, game_id)
    select ${run.run_id}, game_id from games where application_game_id = 'g-n'`;
  const accepted = operateAs(sql, KIM, acceptWithdrawals, { run_id: run.run_id }, platform);
  expect(await after(accepted)).toEqual(gone);
  await sql`update games set withdrawn_at = null where application_game_id = 'g-n'`;
  await world.tidy('g-n');
  expect(await Promise.all(addresses.map(download))).toEqual(bytes);
});

test('an application that goes away leaves its passed games whole, and a reader reads no address of it', async () => {
  const bytes = await passGame('g-z', [50, 51, 52]);
  await world.stopServer();
  await world.recheck();
  expect(await world.statusOf('g-z')).toBe('passed');
  const addresses = await world.addressesOf('g-z');
  expect(JSON.stringify(await world.detail('g-z'))).not.toContain(world.server.url);
  expect(await Promise.all(addresses.map(download))).toEqual(bytes);
});

test('an application that is removed takes its pictures back at once', async () => {
  const addresses = await world.addressesOf('g-z');
  expect(await Promise.all(addresses.map(download))).not.toContain(404);
  const removed = operateAs(world.api.sql, KIM, removeApplication, acme, platform);
  expect(await downloadAfter(removed, addresses)).toEqual(gone);
});
