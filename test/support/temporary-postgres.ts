import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';

/** Test data need not survive a power cut. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Starts an embedded Postgres in a directory that goes with it. `databaseUrl` is a superuser's. */
export const startTemporaryPostgres = async (): Promise<AsyncDisposable & { databaseUrl: string }> => {
  await using started = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'catalogue-test-'));
  started.defer(() => removeHome(home));
  const { databaseUrl, stop } = await startEmbeddedPostgres({ home, settings: FAST_SETTINGS });
  started.defer(stop);
  const running = started.move();
  return { databaseUrl, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

/** For root the data can be outside the home. */
const removeHome = async (home: string): Promise<void> => {
  const record = await readFile(join(home, 'postgres.json'), 'utf8').catch(() => '{"directory":"."}');
  await rm(resolve(home, JSON.parse(record).directory), { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
};
