import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';

it('a pool lets go of connections that have nothing to do, but not of those that hold a lock', async () => {
  // No connection is made before the first statement.
  const url = 'postgres://127.0.0.1:9/nowhere';
  const [pool, lock] = [openDatabase(url), openDatabase(url, { keepOpen: true })];
  expect(pool.options).toMatchObject({ idle_timeout: 60, max_lifetime: expect.anything() });
  expect(lock.options).toMatchObject({ idle_timeout: 0, max_lifetime: 0 });
  await Promise.all([pool.end(), lock.end()]);
});
