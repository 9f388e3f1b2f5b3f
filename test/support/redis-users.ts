import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type DatabaseRole, roleName } from '#db/roles.ts';
import { readCompose } from '#test/ops/compose.ts';
import { type RedisServer, startRedisServer } from '#test/support/redis-server.ts';

export type RedisWithUsers = {
  server: RedisServer;
  /** Somebody who may do everything. */
  admin: Redis;
  urlOf: (role: DatabaseRole) => string;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const passwordOf = (role: string): string => `${role.toLowerCase()}Password`;

/** Starts a Redis with the users and settings of docker-compose.yml, and a further one for the tests. */
export const startRedisWithUsers = async (): Promise<RedisWithUsers> => {
  const { services, configs } = await readCompose();
  const users = (configs?.['redis-users']?.content ?? '').replaceAll(
    /\$\{REDIS_PASSWORD_([A-Z_]+):\?[^}]+\}/g,
    (_, role: string) => passwordOf(role),
  );
  const args = (services.redis?.command ?? []).slice(1);
  const server = await startRedisServer({
    config: async (directory, port) => {
      const acl = join(directory, 'users.acl');
      await writeFile(acl, `${users}user test on >test ~* &* +@all\n`);
      const given = args.map((arg) => (arg === '/etc/redis-users.acl' ? acl : arg));
      const settings = given.flatMap((arg, index) =>
        arg.startsWith('--') ? [`${arg.slice(2)} ${given[index + 1]}`] : [],
      );
      const file = join(directory, 'redis.conf');
      await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', 'save ""', ...settings, ''].join('\n'));
      return file;
    },
  });
  const admin = new Redis(server.port, { username: 'test', password: 'test' });
  return {
    server,
    admin,
    urlOf: (role) => `redis://${roleName(role)}:${passwordOf(role)}@127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: async () => {
      admin.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
};
