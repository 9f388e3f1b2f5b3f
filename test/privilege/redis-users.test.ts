import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DATABASE_ROLES, type DatabaseRole } from '#db/roles.ts';
import { jobSpecs, mediaSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { startLiveness } from '#src/queue/liveness.ts';
import { createProducer } from '#src/queue/producer.ts';
import { readCompose } from '#test/ops/compose.ts';
import { localClock } from '#test/support/clock.ts';
import { type RedisWithUsers, startRedisWithUsers } from '#test/support/redis-users.ts';
import { until } from '#test/support/until.ts';

const without = inject('redisUrl') === null;
let redis: RedisWithUsers;
const clients = {} as Record<DatabaseRole, Redis>;
beforeAll(async () => {
  if (without) return;
  redis = await startRedisWithUsers();
  for (const role of DATABASE_ROLES) clients[role] = new Redis(redis.urlOf(role));
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.disconnect();
  await redis?.[Symbol.asyncDispose]();
});

/** @returns the roles that may, in the order of `DATABASE_ROLES` */
const whoMay = async (...command: [string, ...(string | Buffer)[]]): Promise<DatabaseRole[]> => {
  const may: DatabaseRole[] = [];
  for (const role of DATABASE_ROLES) {
    const answer = await clients[role].call(...command).catch((error: Error) => error);
    if (answer instanceof Error)
      expect(answer.message).toMatch(/NOPERM|permissions|can't (run|access)|DEBUG command not allowed/);
    else may.push(role);
  }
  return may;
};
const EVERY_QUEUE: DatabaseRole[] = ['worker', 'console', 'operator', 'operator_api'];

test.skipIf(without)(
  'Redis takes connections from other machines: its protected mode finds no user without a password',
  async () => {
    const { username, password } = new URL(redis.urlOf('worker'));
    // Not 127.0.0.1: another machine.
    const socket = connect({ port: redis.server.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.write(`AUTH ${username} ${password}\r\n`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toBe('+OK\r\n');
  },
);

test.skipIf(without)(
  'each user of Redis forges what its process could add itself, and nothing else',
  async () => {
    expect(await whoMay('hset', '{catalogue}:pull-game-detail:1', 'data', '{}')).toEqual(EVERY_QUEUE);
    expect(await whoMay('lpush', '{catalogue}:query-cp-kyc:wait', '1')).toEqual(EVERY_QUEUE);
    expect(await whoMay('hset', '{catalogue}:tick:meta', 'paused', '1')).toEqual(EVERY_QUEUE);
    expect(await whoMay('hset', '{catalogue}:fetch-pictures:1', 'data', '{}')).toEqual([
      'worker',
      'console',
      'media',
      'operator',
      'operator_api',
    ]);
    expect(await whoMay('set', 'catalogue-api-rate:a-token', '1000000000')).toEqual(['api', 'operator_api']);
    expect(await whoMay('set', '{catalogue}:probe', '', 'EX', '60')).toEqual(DATABASE_ROLES);
    // A script has the rights of its user.
    expect(
      await whoMay('eval', "return redis.call('hset', KEYS[1], 'a', 1)", '1', '{catalogue}:tick:meta'),
    ).toEqual(EVERY_QUEUE);
    expect(await whoMay('eval', "return redis.call('hset', '{catalogue}:tick:meta', 'a', 1)", '0')).toEqual(
      EVERY_QUEUE,
    );
  },
);

test.skipIf(without)(
  'who answers applications or opens KYC records runs no script, which could stop Redis',
  async () => {
    const others = DATABASE_ROLES.filter((role) => role !== 'api' && role !== 'kyc_desk');
    for (const command of [
      ['eval', 'return 1', '0'],
      ['evalsha', 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db', '0'],
    ] as const)
      expect(await whoMay(...(command as unknown as [string]))).toEqual(others);
  },
);

test.skipIf(without)('no user reads keys of others, or changes, stops or empties the server', async () => {
  for (const command of [
    ['keys', '*'],
    ['flushall'],
    ['flushdb'],
    ['config', 'get', '*'],
    ['config', 'set', 'maxmemory', '1'],
    ['acl', 'list'],
    ['acl', 'setuser', 'evil'],
    ['client', 'kill', 'type', 'normal'],
    ['client', 'list'],
    ['monitor'],
    ['debug', 'sleep', '0'],
    ['shutdown', 'nosave'],
    ['replicaof', 'no', 'one'],
    ['script', 'flush'],
    ['save'],
    ['slowlog', 'get'],
    ['get', 'another-program:key'],
    ['scan', '0'],
    ['randomkey'],
    ['dbsize'],
    ['client', 'tracking', 'off'],
    ['script', 'debug', 'no'],
    ['fcall_ro', 'f', '0'],
  ] as const)
    expect([command, await whoMay(...(command as unknown as [string]))]).toEqual([command, []]);
});

test.skipIf(without)('a job of megabytes is refused before anything parses it', async () => {
  const huge = Buffer.alloc(2_000_000, 'x');
  const client = new Redis(redis.urlOf('worker'), { maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => {});
  await expect(client.hset('{catalogue}:pull-game-detail:9', 'data', huge)).rejects.toThrow();
  expect(await redis.admin.exists('{catalogue}:pull-game-detail:9')).toBe(0);
});

test.skipIf(without)(
  'without a password, Redis does nothing, and the health check sees that it answers',
  async () => {
    const cli = (...args: string[]) =>
      promisify(execFile)('redis-cli', ['-p', String(redis.server.port), ...args]);
    const { services } = await readCompose();
    for (const command of [services.redis?.healthcheck?.test.slice(2) ?? [], ['get', '{catalogue}:probe']])
      expect((await cli(...command)).stdout).toContain('NOAUTH');
  },
);

test.skipIf(without).each([
  ['worker', jobSpecs],
  ['console', jobSpecs],
  ['operator', jobSpecs],
  ['operator_api', jobSpecs],
  ['media', mediaSpecs],
] as const)('%s pauses, counts and resumes each of its queues', async (role, specs) => {
  const errors: string[] = [];
  const onError = (error: Error) => void errors.push(error.message);
  const backend = openQueueBackend({
    databaseUrl: '',
    redisUrl: redis.urlOf(role),
    prefix: '{catalogue}',
    use: 'producer',
    onError,
  });
  const producer = createProducer(backend, specs, onError);
  await backend.check();
  await backend.probe();
  for (const queue of producer.queues()) {
    await queue.pause();
    await queue.getJobCounts();
    await queue.resume();
  }
  await producer.close();
  await backend.close();
  expect(errors).toEqual([]);
});

test.skipIf(without)(
  'the user of the media process does not keep workers from their queues for ever',
  async () => {
    const key = '{catalogue}:database';
    const place = { databaseUrl: '', redisUrl: redis.urlOf('worker'), prefix: '{catalogue}' };
    const worker = openQueueBackend({ ...place, use: 'worker', onError: () => {} });
    try {
      const queue = await worker.claim('ours');
      for (const forge of [
        () => clients.media.set(key, 'another 0123abcd'),
        () => clients.media.set(key, 'another 0123abcd', 'EX', 1_000_000),
        () => clients.media.set(key, `ours ${'x'.repeat(900_000)}`, 'EX', 60),
        () => clients.media.multi().del(key).rpush(key, 'a list').pexpire(key, 30_000).exec(),
      ]) {
        await forge();
        expect(await worker.claim('ours')).toBe(queue);
        expect(await redis.admin.ttl(key)).toBeGreaterThan(0);
      }
      await clients.media.set(key, 'another 0123abcd', 'EX', 60);
      expect(await worker.claim('ours')).toBeUndefined();
    } finally {
      await worker.close();
    }
  },
);

test.skipIf(without)(
  'a worker whose user lacks the keys of a queue is not ready, and not alive',
  async () => {
    await redis.admin.acl('SETUSER', 'catalogue_worker', 'resetkeys', '~{catalogue}:probe');
    const backend = openQueueBackend({
      databaseUrl: '',
      redisUrl: redis.urlOf('worker'),
      prefix: '{catalogue}',
      use: 'producer',
      onError: () => {},
    });
    const producer = createProducer(backend, jobSpecs, () => {});
    let heartbeats = 0;
    const liveness = startLiveness({
      backend,
      producer,
      runner: {
        loads: () => [{ name: 'query-game-list', active: 0, concurrency: 5, taken: 0 }],
        followClock: async () => {},
      },
      clock: localClock,
      recordHeartbeat: async () => {
        heartbeats += 1;
      },
      onStuck: () => {},
      logger: pino({ level: 'silent' }),
      checkMs: 100,
    });
    await until('it says why', () => liveness.fault()?.includes('Redis') === true);
    expect(liveness.fault()).toMatch(
      /^Redis does not allow its user a key of this command \(NOPERM\)\. Grant /,
    );
    await liveness.stop();
    expect(heartbeats).toBe(0);
    await producer.close();
    await backend.close();
  },
);
