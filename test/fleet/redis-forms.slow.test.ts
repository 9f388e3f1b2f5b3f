import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { openWorld } from '#test/fleet/world.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { writeTlsConfig } from '#test/support/self-signed.ts';

// The faults of test/fleet/faults show the same of a cluster and of a Sentinel.
test.skipIf(withoutRedis('a Redis with TLS'))(
  'a whole run goes through a Redis with a user, a password and TLS, whose authority NODE_EXTRA_CA_CERTS names',
  async () => {
    const config = (directory: string, port: number) =>
      writeTlsConfig(directory, port, ['user default off', 'user fleet on >pass%word ~* &* +@all']);
    await using server = await startRedisServer({ config });
    await using world = await openWorld(sharedGround(), { applications: 1, games: 120 });
    Object.assign(world.env, {
      REDIS_URL: `rediss://fleet:pass%25word@localhost:${server.port}`,
      NODE_EXTRA_CA_CERTS: join(server.directory, 'cert.pem'),
    });
    const worker = await world.startWorker();
    // The command line is the producer, as it is in a fleet; Node's certificates are a process's own.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['src/cli/catalogue.ts', 'sync', 'app-0', '--wait', '--timeout', '60s', '--json'],
      { env: { PATH: process.env.PATH ?? '', ...world.env }, timeout: 120_000 },
    );
    const { code } = await worker.stop();
    expect(code).toBe(0);
    expect(JSON.parse(stdout).runs).toMatchObject([{ outcome: 'succeeded', listed: 120, inserted: 120 }]);
    expect(worker.log() + stdout).not.toContain('pass%');
  },
);
