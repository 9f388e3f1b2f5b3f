import { randomUUID } from 'node:crypto';
import type { Queue } from 'bullmq';
import { inject } from 'vitest';
import { openDatabase } from '#db/client.ts';
import type { Login } from '#src/board/credentials.ts';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';

export const LOGIN: Login = { user: 'olga', password: 'correct horse: battery staple' };

export const FINISHED_JOB = 'acme page 3';

export type TestQueues = {
  kind: QueueBackend['kind'];
  /** `query-game-list`, with one finished job, and `query-cp-kyc`, with one that waits. */
  queues: readonly [Queue, Queue];
  /** Drops the tables of the queue, so that every query fails. */
  breakDown(): Promise<void>;
  close(): Promise<void>;
};

/** Create two queues with jobs on this backend. */
export const openTestQueues = async (kind: QueueBackend['kind']): Promise<TestQueues> => {
  const redisUrl = inject('redisUrl');
  if (kind === 'redis' && redisUrl === null) throw new Error('there is no redis-server');
  const database = kind === 'postgres' ? await createTestDatabase() : null;
  const backend = openQueueBackend({
    databaseUrl: database?.databaseUrl ?? '',
    redisUrl: kind === 'redis' ? (redisUrl ?? undefined) : undefined,
    prefix: `board-${randomUUID()}`,
    role: 'worker',
    onError: () => {},
  });
  await backend.migrate();

  const list = backend.createQueue('query-game-list');
  const kyc = backend.createQueue('query-cp-kyc');
  await kyc.add('acme record', { application_id: 'acme' });
  await list.add(FINISHED_JOB, { run_id: 'r1', page_num: 3 });
  const worker = backend.createWorker('query-game-list', async () => ({ listed: 100 }), { concurrency: 1 });
  await new Promise<void>((resolve, reject) => {
    worker.once('completed', () => resolve());
    worker.once('failed', (_job, error) => reject(error));
  });
  await worker.close();

  return {
    kind,
    queues: [list, kyc],
    breakDown: async () => {
      if (database === null) throw new Error('only the PostgreSQL backend can be broken here');
      const sql = openDatabase(database.databaseUrl, { max: 1 });
      await sql`drop schema bullmq cascade`;
      await sql.end();
    },
    close: async () => {
      await Promise.all([list.close(), kyc.close()]);
      await backend.close();
      await database?.drop();
    },
  };
};
