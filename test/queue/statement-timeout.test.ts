import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();

/** A busy machine takes hundreds of milliseconds for a statement that waits for nothing. */
const STATEMENT_TEST_MS = 2_000;

/** Over a URL with options of its own. */
const openBackend = (statementMs: number): QueueBackend => {
  const url = new URL(database.databaseUrl);
  url.searchParams.set('options', '-c work_mem=5MB');
  const databaseUrl = url.href;
  const backend = openQueueBackend({
    databaseUrl,
    prefix: '',
    use: 'worker',
    statementMs,
    onError: () => {},
  });
  onTestFinished(backend.close);
  return backend;
};

test('a statement of the queue that waits for a lock is cancelled, and the queue works afterwards', async () => {
  const backend = openBackend(STATEMENT_TEST_MS);
  await backend.migrate(['timeouts']);
  const queue = backend.createQueue('timeouts');
  onTestFinished(() => queue.close());
  await queue.add('first', {});
  const locking = database.sql.begin(async (tx) => {
    await tx`lock table bullmq.job in access exclusive mode`;
    await expect(queue.add('second', {})).rejects.toMatchObject({ code: '57014' });
  });
  await locking;
  await queue.add('third', {});
  expect(await queue.getWaitingCount()).toBe(2);
});

test('defaults of the database that are not ours: a statement waits for a lock as long as a statement may take', async () => {
  const name = database.sql(new URL(database.databaseUrl).pathname.slice(1));
  await database.sql`alter database ${name} set lock_timeout = '1ms'`;
  await database.sql`alter database ${name} set default_transaction_isolation = 'serializable'`;
  const backend = openBackend(60_000);
  await backend.migrate(['defaults']);
  const queue = backend.createQueue('defaults');
  onTestFinished(() => queue.close());
  await queue.add('first', {});
  const added = await database.sql.begin(async (tx) => {
    await tx`lock table bullmq.job in access exclusive mode`;
    const second = queue.add('second', {});
    second.catch(() => {});
    await untilBlocked(database.sql);
    return { second };
  });
  await added.second;
  expect(await queue.getWaitingCount()).toBe(2);
});

test('a worker that has listened for longer than a statement may take still gets jobs', async () => {
  const backend = openBackend(STATEMENT_TEST_MS);
  await backend.migrate(['listening']);
  const queue = backend.createQueue('listening');
  onTestFinished(() => queue.close());
  const done: string[] = [];
  const worker = backend.createWorker('listening', async (job) => done.push(job.name), {
    autorun: true,
    drainDelay: 60,
  });
  worker.on('error', () => {});
  onTestFinished(() => worker.close());
  await worker.waitUntilReady();
  await setTimeout(2 * STATEMENT_TEST_MS);
  await queue.add('late', {});
  await until('the job is done', async () => done.includes('late'));
});
