import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);

/** A master with a replica, and a Sentinel that watches them. */
export type RedisSentinel = {
  /** REDIS_URL. */
  url: string;
  /** The server that the Sentinel says is the master. */
  master: () => Promise<RedisServer>;
  /** The first word of the role of a server: master or slave. */
  role: (server: RedisServer) => Promise<string>;
  /** Waits until another server is the master. */
  failedOver: (before: RedisServer) => Promise<void>;
};

const NAME = 'fleet';
/** A master that does not answer for this time is down. */
const DOWN_MS = 1_000;

/** Starts them. They end with `stack`. */
export const startRedisSentinel = async (stack: AsyncDisposableStack): Promise<RedisSentinel> => {
  const first = stack.use(await startRedisServer());
  const second = stack.use(
    await startRedisServer({ args: ['--replicaof', '127.0.0.1', String(first.port)] }),
  );
  const config = async (directory: string, port: number) => {
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `sentinel monitor ${NAME} 127.0.0.1 ${first.port} 1`,
      `sentinel down-after-milliseconds ${NAME} ${DOWN_MS}`,
      `sentinel failover-timeout ${NAME} 4000`,
    ];
    const file = join(directory, 'sentinel.conf');
    await writeFile(file, lines.join('\n'));
    return file;
  };
  const sentinel = stack.use(await startRedisServer({ args: ['--sentinel'], config }));
  const cli = async (server: RedisServer, ...args: string[]) =>
    (await run('redis-cli', ['-p', String(server.port), ...args], { timeout: 5_000 })).stdout.trim();
  // A server that is being promoted may close a connection.
  const role = (server: RedisServer) =>
    cli(server, 'role').then(
      (reply) => reply.split('\n')[0] ?? '',
      () => 'no answer',
    );
  const master = async () => {
    const address = await cli(sentinel, 'sentinel', 'get-master-addr-by-name', NAME);
    return address.endsWith(`\n${first.port}`) ? first : second;
  };
  await until('the Sentinel knows the replica, and the replica follows', async () => {
    const known = await cli(sentinel, 'sentinel', 'replicas', NAME);
    const info = await cli(second, 'info', 'replication');
    return known.includes(String(second.port)) && info.includes('master_link_status:up');
  });
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/${NAME}`,
    master,
    role,
    failedOver: async (before) => {
      await until('another server is the master', async () => {
        const now = await master();
        return now !== before && (await role(now)) === 'master';
      });
    },
  };
};
