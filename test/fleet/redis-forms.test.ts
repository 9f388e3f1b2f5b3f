import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRedis } from '#src/queue/redis.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { runCli } from '#test/support/cli.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { trustCertificate, writeTlsConfig } from '#test/support/self-signed.ts';

describe.skipIf(withoutRedis('what is said about Redis'))('a process says', () => {
  const catalogue = (env: Record<string, string>) =>
    runCli(['queue', 'status'], { DATABASE_URL: sharedGround().adminUrl, ...env });

  test.for([
    [
      'nothing listens',
      'redis://:secret-word@127.0.0.1:1',
      1,
      /does not answer at 127\.0\.0\.1:1 \(ECONNREFUSED\)/,
    ],
    [
      'no sentinel listens',
      'redis+sentinel://:secret-word@127.0.0.1:1/fleet',
      1,
      /Redis does not answer at 127\.0\.0\.1:1/,
    ],
    [
      'no node of the cluster listens',
      'redis+cluster://:secret-word@127.0.0.1:1',
      1,
      /Redis does not answer at 127\.0\.0\.1:1/,
    ],
    [
      'the host is unknown',
      'redis://:secret-word@redis.invalid',
      1,
      /Redis does not answer at redis\.invalid:6379 \(\w+\): check REDIS_URL/,
    ],
  ] as const)('that %s', async ([, REDIS_URL, exit, sentence]) => {
    const said = await catalogue({ REDIS_URL });
    expect(said.exit).toBe(exit);
    expect(said.stderr).toMatch(sentence);
    expect(said.stderr).not.toContain('secret-word');
  });

  test('that the password is wrong, and not which it is', async () => {
    await using server = await startRedisServer({ args: ['--requirepass', 'right'] });
    const said = await catalogue({ REDIS_URL: `redis://:wrong-word@127.0.0.1:${server.port}` });
    expect(said).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/Failed because Redis .* \((WRONGPASS|NOAUTH)\)\. .* REDIS_URL/),
    });
    expect(said.stderr).not.toContain('wrong-word');
  });

  test('that no authority it knows made the certificate, and connects by IP address once it knows one', async () => {
    await using server = await startRedisServer({ config: writeTlsConfig });
    const REDIS_URL = `rediss://127.0.0.1:${server.port}`;
    const said = await catalogue({ REDIS_URL });
    expect(said.stderr).toMatch(/no authority .* \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .* NODE_EXTRA_CA_CERTS/);
    trustCertificate();
    const redis = openRedis(REDIS_URL, { prefix: 'fleet', use: 'producer', onError: () => {} });
    onTestFinished(() => redis.close());
    await redis.ping();
  });

  test('that it tried TLS, if its Redis has none at this port', async () => {
    await using server = await startRedisServer();
    const said = await catalogue({ REDIS_URL: `rediss://127.0.0.1:${server.port}` });
    expect(said.stderr).toContain(`does not answer at 127.0.0.1:${server.port} with TLS (ETIMEDOUT)`);
  });

  test('that its Redis is a replica, also while it connects again', async () => {
    await using server = await startRedisServer({ args: ['--replicaof', '127.0.0.1', '1'] });
    const redis = openRedis(server.url, { prefix: 'fleet', use: 'producer', onError: () => {} });
    onTestFinished(() => redis.close());
    await redis.ping();
    const reconnecting = once(redis.client, 'reconnecting');
    await expect(redis.client.set('a', 'b')).rejects.toThrow('READONLY');
    await reconnecting;
    await expect(redis.ping()).rejects.toThrow(
      'Redis is a replica and accepts no writes (READONLY). Point REDIS_URL to the master.',
    );
  });

  test('nothing of a fault that has ended, when its connection is lost later', async () => {
    await using server = await startRedisServer({ args: ['--requirepass', 'secret-word'] });
    const redis = openRedis(server.url, { prefix: 'fleet', use: 'producer', onError: () => {} });
    onTestFinished(() => redis.close());
    await expect(redis.ping()).rejects.toThrow('Redis requires a password (NOAUTH)');
    const admin = new Redis(server.url, { password: 'secret-word' });
    onTestFinished(() => admin.disconnect());
    await admin.config('SET', 'requirepass', '');
    await once(redis.client, 'ready');
    const reconnecting = once(redis.client, 'reconnecting');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await reconnecting;
    await expect(redis.ping()).rejects.toThrow('does not answer');
  });

  test('nothing of listeners, if a replica refuses many commands at once', async () => {
    await using server = await startRedisServer({ args: ['--replicaof', '127.0.0.1', '1'] });
    const redis = openRedis(server.url, { prefix: 'fleet', use: 'producer', onError: () => {} });
    onTestFinished(() => redis.close());
    await redis.ping();
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const reconnecting = once(redis.client, 'reconnecting');
    const refused = await Promise.allSettled(Array.from({ length: 20 }, () => redis.client.set('a', 'b')));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await reconnecting;
    expect(warnings).toEqual([]);
  });

  test('that there is no database of that number, rather than work in another one', async () => {
    await using server = await startRedisServer();
    const REDIS_URL = `redis://127.0.0.1:${server.port}/99`;
    const said = await catalogue({ REDIS_URL });
    expect(said).toMatchObject({ exit: 1, stderr: expect.stringMatching(/Redis refused: .*out of range/) });
    const redis = openRedis(REDIS_URL, { prefix: 'fleet', use: 'worker', onError: () => {} });
    onTestFinished(() => redis.close());
    await expect(redis.check()).rejects.toThrow(/Redis refused: .*out of range/);
  });

  test('that a prefix without a hash tag does not go with a cluster', async () => {
    const said = await catalogue({ REDIS_URL: 'redis+cluster://127.0.0.1:1', QUEUE_PREFIX: 'fleet' });
    expect(said).toMatchObject({ exit: 2, stderr: expect.stringContaining('QUEUE_PREFIX={fleet}') });
  });
});
