import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathInArea } from '#src/picture-store/file-store.ts';
import { hashOfPicture, nameOfPicture } from '#src/picture-store/store.ts';
import { backfillPictures } from '#src/pictures/backfill.ts';
import { openFileStoreWorld, type StoreWorld } from '#test/pictures/store-world.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';

let directory: string;
let world: StoreWorld;
beforeAll(async () => {
  ({ directory, world } = await openFileStoreWorld());
});
afterAll(async () => {
  await world.close();
  await rm(`${directory}.elsewhere`, { force: true });
});

const run = (store: string, ...args: string[]) =>
  runCli(['picture', ...args, '--json'], { ...asOperator(world.api.databaseUrl), PICTURE_STORE: store });
const cli = async (...args: string[]) => {
  const result = await run(`file:${directory}`, ...args);
  return { exit: result.exit, answer: documentOf(result) };
};
const nameOf = (bytes: Buffer | undefined): string =>
  nameOfPicture({ sha256: hashOfPicture(bytes ?? Buffer.of()), format: 'png' });
const pathOf = (name: string, area = 'passed'): string => join(directory, area, pathInArea(name));
const download = async (url: string) => (await fetch(url)).status;

const passGame = async (id: string, seeds: number[]): Promise<Buffer[]> => {
  const bytes = await world.serve(id, seeds);
  await world.land(id);
  await world.look(id);
  expect(await world.decide(id)).toBe('decided');
  // The checks that a decision makes due.
  await world.check();
  return bytes;
};
/** The media process, until a command has ended. */
const recheckUntil = async <Result>(command: Promise<Result>): Promise<Result> => {
  let isRunning = true;
  const ended = command.finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    await world.check();
    await setImmediate();
  }
  return ended;
};

test('verify finds what is missing, different and orphaned; repair and backfill make passed games whole', async () => {
  const bytes = await passGame('g-1', [1, 2, 3]);
  expect(await cli('verify')).toMatchObject({
    exit: 0,
    answer: { checked: 3, missing: 0, different: 0, orphaned: 0, lacking: 0 },
  });
  const [lost, changed] = bytes.map(nameOf) as [string, string];
  const orphan = nameOf(Buffer.from('nobody names this'));
  // A link to the same bytes, and what the media process could put there to block or fill the command line.
  await rename(pathOf(lost), `${directory}.elsewhere`);
  await symlink(`${directory}.elsewhere`, pathOf(lost));
  await writeFile(pathOf(changed), 'other bytes');
  await truncate(pathOf(changed), 8 * 2 ** 30);
  await mkdir(join(pathOf(orphan, 'seen'), '..'), { recursive: true });
  await writeFile(pathOf(orphan, 'seen'), 'nobody names this');
  const found = await cli('verify');
  expect(found).toMatchObject({
    exit: 3,
    answer: { missing: 1, different: 1, orphaned: 1, repaired: false },
  });
  expect(found.answer.findings).toEqual(
    expect.arrayContaining([
      { problem: 'missing', area: 'passed', name: lost },
      { problem: 'different', area: 'passed', name: changed },
      { problem: 'orphaned', area: 'seen', name: orphan },
    ]),
  );
  expect(await cli('verify', '--repair', '--by', 'kim')).toMatchObject({ exit: 3, answer: { lacking: 2 } });
  // Readers get what is whole, and never other bytes.
  expect(await Promise.all((await world.addressesOf('g-1')).map(download))).toEqual([200]);
  const filled = await recheckUntil(cli('backfill'));
  expect(filled).toMatchObject({ exit: 0, answer: { requested: 2, lacking: 0 } });
  expect(await Promise.all((await world.addressesOf('g-1')).map(download))).toEqual([200, 200, 200]);
  expect(await cli('verify')).toMatchObject({ exit: 0, answer: { checked: 3, orphaned: 0 } });
  const entries = await world.api.sql`select actor, details from audit_log where action = 'picture.repair'`;
  expect(entries).toEqual([{ actor: 'kim', details: { pictures: 2 } }]);
});

test('a store that is not there has lost nothing: repair changes no row', async () => {
  const stored = () =>
    world.api.sql`select sha256, stored from picture_contents where stored is not null order by sha256`;
  const before = await stored();
  expect(before.length).toBeGreaterThan(0);
  const mountPoint = join(directory, 'not-mounted');
  await mkdir(mountPoint);
  const repaired = await run(`file:${mountPoint}`, 'verify', '--repair', '--by', 'kim');
  expect(repaired.stderr).toContain('its directory or bucket does not exist: mount it, or create it');
  expect(repaired.exit).toBe(1);
  expect(await stored()).toEqual(before);
});

test('backfill fetches the pictures of games that passed before there was a store, and says which it cannot', async () => {
  const bytes = await passGame('g-2', [11, 12, 13]);
  const isOfGame = world.api.sql`sha256 in (select sha256 from pictures where url like '%/g-2/%')`;
  await world.api.sql`update picture_contents set stored = null where ${isOfGame}`;
  for (const each of bytes) await rm(pathOf(nameOf(each)));
  world.server.files.delete('/g-2/1.png');
  expect(await world.addressesOf('g-2')).toEqual([]);
  const filled = await recheckUntil(cli('backfill'));
  expect(filled).toMatchObject({ exit: 3, answer: { lacking: 1 } });
  expect(filled.answer.pictures).toEqual([
    expect.objectContaining({ url: `${world.server.url}/g-2/1.png`, outcome: 'not_found', http_status: 404 }),
  ]);
  expect(await Promise.all((await world.addressesOf('g-2')).map(download))).toEqual([200, 200]);
  world.server.files.set('/g-2/1.png', { bytes: bytes[1] as Buffer });
  expect(await recheckUntil(cli('backfill'))).toMatchObject({
    exit: 0,
    answer: { requested: 1, lacking: 0 },
  });
});

test('backfill without a media process says so', async () => {
  await world.api.sql`update picture_contents set stored = null where stored = 'passed'`;
  const { signal } = new AbortController();
  await expect(backfillPictures({ sql: world.api.sql, signal, stallMs: 1_000 })).rejects.toThrow(
    'No media process requests pictures. Start one (npx catalogue media)',
  );
});
