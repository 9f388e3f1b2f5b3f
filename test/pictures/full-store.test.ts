import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPictures } from '#db/queries/pictures.ts';
import { openFileStore } from '#src/picture-store/file-store.ts';
import { openStoreWorld } from '#test/pictures/store-world.ts';
import { startS3Server } from '#test/support/s3-server.ts';
import { mayMount, openTmpfs } from '#test/support/tmpfs.ts';

const isThere = async (url: string): Promise<boolean> => {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok;
};

test.skipIf(!mayMount())(
  'a full disk loses no decision, says what to do, and holds up passes until there is space',
  async () => {
    await using disk = await openTmpfs();
    const directory = join(disk.directory, 'store');
    const world = await openStoreWorld(openFileStore(directory), { directory });
    await world.serve('before', [1, 2, 3]);
    await world.land('before');
    await world.look('before');
    expect(await world.decide('before')).toBe('decided');
    await disk.fill();
    // Moving a file takes no space.
    await world.tidy('before');
    await world.serve('after', [4, 5, 6]);
    await world.land('after');
    await world.land('rejected');
    await world.serve('rejected', [7, 8, 9]);
    await world.look('after');
    expect(await world.decide('after')).toBe('fetching');
    expect(await world.decide('rejected', 'rejected')).toBe('decided');
    expect(world.warnings).toContainEqual(
      expect.stringMatching(
        /^The store of pictures \(PICTURE_STORE, file:.+\): it is full: free space there/,
      ),
    );
    const url = `${world.server.url}/after/0.png`;
    const view = (await findPictures(world.api.sql, [{ application_id: 'acme', url }])).get({
      application_id: 'acme',
      url,
    });
    expect(view).toMatchObject({
      outcome: 'shown',
      is_stored: false,
      note: 'not kept: the store of pictures is full',
    });
    expect(await Promise.all((await world.addressesOf('before')).map(isThere))).toEqual([true, true, true]);
    await world.recheck();
    for (const [id, status] of [
      ['before', 'passed'],
      ['after', 'pending'],
      ['rejected', 'rejected'],
    ] as const)
      expect(await world.statusOf(id)).toBe(status);
    await disk.free();
    await world.recheck();
    await world.look('after');
    expect(await world.decide('after')).toBe('decided');
    await world.tidy('after');
    expect(await Promise.all((await world.addressesOf('after')).map(isThere))).toEqual([true, true, true]);
    await world.close();
  },
);

test('a bucket that does not answer loses no decision and serves on when it is back', async () => {
  const s3 = await startS3Server();
  const store = s3.open();
  const world = await openStoreWorld(store, { publicUrl: 'https://pictures.example' });
  const publicNames = async () =>
    (await Array.fromAsync(store.list('passed')))
      .map(({ name }) => `https://pictures.example/${name}`)
      .toSorted();
  await world.serve('before', [1, 2, 3]);
  await world.land('before');
  await world.look('before');
  expect(await world.decide('before')).toBe('decided');
  await world.tidy('before');
  const addresses = await world.addressesOf('before');
  expect(await publicNames()).toEqual(addresses.toSorted());
  await s3.kill();
  await world.serve('after', [4, 5, 6]);
  await world.land('after');
  await world.look('after');
  expect(await world.decide('after')).toBe('fetching');
  expect(world.warnings).toContainEqual(expect.stringContaining('it does not answer'));
  expect(await world.decide('before', 'rejected')).toBe('decided');
  await world.tidy('before');
  await s3.start();
  // What could not be done meanwhile is done by the next check.
  await world.recheck();
  expect(await publicNames()).toEqual([]);
  await world.look('after');
  expect(await world.decide('after')).toBe('decided');
  await world.tidy('after');
  expect(await publicNames()).toEqual((await world.addressesOf('after')).toSorted());
  store.close();
  await world.close();
  await s3.close();
});
