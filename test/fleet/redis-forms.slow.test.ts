import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { startRedisCluster } from '#test/fleet/redis-cluster.ts';
import { startRedisSentinel } from '#test/fleet/redis-sentinel.ts';
import { openWorld } from '#test/fleet/world.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { writeTlsConfig } from '#test/support/self-signed.ts';

const run = promisify(execFile);

/** A whole run through a real worker process, with the queue at this REDIS_URL. */
const wholeRun = async (env: Record<string, string>, disturb: () => Promise<void> = async () => {}) => {
  await using world = await openWorld(sharedGround(), { applications: 1, games: 120 });
  Object.assign(world.env, env);
  if (env.REDIS_URL === undefined) throw new Error('which Redis?');
  const worker = await world.startWorker();
  await disturb();
  // The command line is the producer, as it is in a fleet; Node's certificates are a process's own.
  const { stdout } = await run(
    process.execPath,
    ['src/cli/catalogue.ts', 'sync', 'app-0', '--wait', '--timeout', '60s', '--json'],
    { env: { PATH: process.env.PATH ?? '', ...world.env }, timeout: 120_000 },
  );
  const { code } = await worker.stop();
  expect(code).toBe(0);
  expect(JSON.parse(stdout).runs).toMatchObject([{ outcome: 'succeeded', listed: 120, inserted: 120 }]);
  return worker.log() + stdout;
};

describe.skipIf(withoutRedis('forms of REDIS_URL'))('a whole run goes through', () => {
  test('a Redis with a user, a password and TLS, whose authority NODE_EXTRA_CA_CERTS names', async () => {
    const config = (directory: string, port: number) =>
      writeTlsConfig(directory, port, ['user default off', 'user fleet on >pass%word ~* &* +@all']);
    await using server = await startRedisServer({ config });
    const said = await wholeRun({
      REDIS_URL: `rediss://fleet:pass%25word@localhost:${server.port}`,
      NODE_EXTRA_CA_CERTS: join(server.directory, 'cert.pem'),
    });
    expect(said).not.toContain('pass%');
  });

  test('Sentinel, also when the master fails over to its replica', async () => {
    await using stack = new AsyncDisposableStack();
    const sentinel = await startRedisSentinel(stack);
    const master = await sentinel.master();
    await wholeRun({ REDIS_URL: sentinel.url }, async () => {
      await master.end('SIGKILL');
      await sentinel.failedOver(master);
    });
  });

  test('a cluster of three nodes', async () => {
    await using cluster = await startRedisCluster(3, 0);
    await wholeRun({ REDIS_URL: cluster.url });
  });
});
