import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { deliverEvent, jobSpecs, queryCpKyc, tick } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { onBothBackends } from '#test/support/fleet.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { until } from '#test/support/until.ts';

/** The server of one kind of queue, behind a network of its own. */
const openNetwork = async (kind: 'redis' | 'postgres') => {
  const database = await createTestDatabase();
  onTestFinished(database.drop);
  const redisUrl = inject('redisUrl') ?? '';
  const url = kind === 'redis' ? redisUrl : database.databaseUrl;
  const network = await startProxy(() => Number(new URL(url).port));
  onTestFinished(() => network[Symbol.asyncDispose]());
  const open = (): Producer => {
    const backend = openQueueBackend({
      databaseUrl: kind === 'postgres' ? network.through(url) : database.databaseUrl,
      redisUrl: kind === 'redis' ? network.through(url) : undefined,
      prefix: `{silent-${randomUUID()}}`,
      use: 'producer',
      onError: () => {},
    });
    const producer = createProducer(backend, jobSpecs, () => {});
    onTestFinished(async () => {
      await producer.close();
      await backend.close();
    });
    return producer;
  };
  return { network, open };
};

/** Adds a job, a flow and reads a queue: each uses another part of BullMQ. */
const use = async (producer: Producer): Promise<void> => {
  await producer.add(deliverEvent, { application_id: 'acme' });
  const payload = { application_id: 'acme' };
  await producer.addAfter(
    { job: queryCpKyc, payload, id: `then-${randomUUID()}` },
    { job: deliverEvent, payload, id: `first-${randomUUID()}` },
  );
  await producer.queue(tick).getWaitingCount();
};

onBothBackends('Queues of a producer', (kind) => {
  test('work once their server answers, although it was silent when they were opened and first used', async () => {
    const { network, open } = await openNetwork(kind);
    network.pause();
    const producer = open();
    await expect(use(producer)).rejects.toThrow();
    network.resume();
    if (kind === 'postgres') network.cut();
    await until('a job is added', () =>
      use(producer).then(
        () => true,
        () => false,
      ),
    );
  });

  test('work once their server accepts connections, although it refused them when they were opened', async () => {
    const { network, open } = await openNetwork(kind);
    network.cut({ refuse: true });
    const producer = open();
    await expect(use(producer)).rejects.toThrow();
    network.restore();
    await until('a job is added', () =>
      use(producer).then(
        () => true,
        () => false,
      ),
    );
  });
});

test.skipIf(inject('redisUrl') === null)(
  'Queues that are opened with a password that Redis refuses work once Redis accepts it',
  async () => {
    await using server = await startRedisServer({ args: ['--requirepass', 'other'] });
    const backend = openQueueBackend({
      databaseUrl: 'postgres://127.0.0.1:1/none',
      redisUrl: server.url.replace('//', '//:secret@'),
      prefix: '{refused}',
      use: 'producer',
      onError: () => {},
    });
    const producer = createProducer(backend, jobSpecs, () => {});
    onTestFinished(async () => {
      await producer.close();
      await backend.close();
    });
    await expect(use(producer)).rejects.toThrow();
    const admin = await openQueueBackend({
      databaseUrl: 'postgres://127.0.0.1:1/none',
      redisUrl: server.url.replace('//', '//:other@'),
      prefix: '{admin}',
      use: 'producer',
      onError: () => {},
    });
    onTestFinished(() => admin.close());
    await admin.redis?.config('SET', 'requirepass', 'secret');
    await until('a job is added', () =>
      use(producer).then(
        () => true,
        () => false,
      ),
    );
  },
);
