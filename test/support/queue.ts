import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';

/** The queues of the tests of one file, in its database: opened before the tests, closed after them. */
export const useTestProducer = (database: { readonly databaseUrl: string }): (() => Promise<Producer>) => {
  const queues = new AsyncDisposableStack();
  let producer: Producer;
  beforeAll(async () => {
    const { databaseUrl } = database;
    const place = { databaseUrl, redisUrl: undefined, prefix: `test-${randomUUID()}` };
    const backend = openQueueBackend({ ...place, use: 'producer', onError: () => {} });
    queues.defer(() => backend.close());
    await backend.migrate();
    producer = createProducer(backend, jobSpecs, () => {});
    queues.defer(() => producer.close());
  });
  afterAll(() => queues.disposeAsync());
  return async () => producer;
};
