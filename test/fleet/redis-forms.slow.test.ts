import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { startRedisCluster } from '#test/fleet/redis-cluster.ts';
import { openWorld } from '#test/fleet/world.ts';
import { type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { CERTIFICATE, KEY } from '#test/support/self-signed.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);
const redisCli = (server: RedisServer, ...args: string[]) =>
  run('redis-cli', ['-p', String(server.port), ...args]);

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
    { env: { PATH: process.env.PATH ?? '', ...world.env } },
  );
  const { code } = await worker.stop();
  expect(code).toBe(0);
  expect(JSON.parse(stdout).runs).toMatchObject([{ outcome: 'succeeded', listed: 120, inserted: 120 }]);
  return worker.log() + stdout;
};

describe.skipIf(withoutRedis('forms of REDIS_URL'))('a whole run goes through', () => {
  test('a Redis with a user, a password and TLS, whose authority NODE_EXTRA_CA_CERTS names', async () => {
    const certificates = async (directory: string, port: number) => {
      await writeFile(join(directory, 'cert.pem'), CERTIFICATE);
      await writeFile(join(directory, 'key.pem'), KEY);
      const file = join(directory, 'redis.conf');
      const lines = [
        `port 0`,
        `tls-port ${port}`,
        'bind 127.0.0.1',
        `tls-cert-file ${join(directory, 'cert.pem')}`,
        `tls-key-file ${join(directory, 'key.pem')}`,
        'tls-auth-clients no',
        'save ""',
        'user default off',
        'user fleet on >pass%word ~* &* +@all',
      ];
      await writeFile(file, lines.join('\n'));
      return file;
    };
    await using server = await startRedisServer({ config: certificates });
    const said = await wholeRun({
      REDIS_URL: `rediss://fleet:pass%25word@localhost:${server.port}`,
      NODE_EXTRA_CA_CERTS: join(server.directory, 'cert.pem'),
    });
    expect(said).not.toContain('pass%');
  });

  test('Sentinel, also when the master fails over to its replica', async () => {
    await using stack = new AsyncDisposableStack();
    const master = stack.use(await startRedisServer());
    const replica = stack.use(
      await startRedisServer({ args: ['--replicaof', '127.0.0.1', String(master.port)] }),
    );
    const sentinel = stack.use(
      await startRedisServer({
        args: ['--sentinel'],
        config: async (directory, port) => {
          const file = join(directory, 'sentinel.conf');
          const lines = [
            `port ${port}`,
            'bind 127.0.0.1',
            `sentinel monitor fleet 127.0.0.1 ${master.port} 1`,
            'sentinel down-after-milliseconds fleet 500',
            'sentinel failover-timeout fleet 2000',
          ];
          await writeFile(file, lines.join('\n'));
          return file;
        },
      }),
    );
    await until('the sentinel knows the replica', async () =>
      (await redisCli(sentinel, 'sentinel', 'replicas', 'fleet')).stdout.includes(String(replica.port)),
    );
    await wholeRun({ REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel.port}/fleet` }, async () => {
      await master.end('SIGKILL');
      await until('the replica is the master', async () =>
        // While it is being promoted it may close a connection.
        (await redisCli(replica, 'role').catch(() => ({ stdout: '' }))).stdout.startsWith('master'),
      );
      await until('the sentinel says so', async () =>
        (await redisCli(sentinel, 'sentinel', 'get-master-addr-by-name', 'fleet')).stdout.includes(
          String(replica.port),
        ),
      );
    });
  });

  test('a cluster of three nodes', async () => {
    await using cluster = await startRedisCluster(3, 0);
    await wholeRun({ REDIS_URL: cluster.url });
  });
});
