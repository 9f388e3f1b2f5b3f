import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { type CliResult, runCli } from '#test/support/cli.ts';
import { type FleetProcess, startFleetProcess } from '#test/support/fleet-process.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { startRedisServer } from '#test/support/redis-server.ts';

/** A secret: it must not appear in clear anywhere. */
export const PLANTED_TOKEN = 'planted-token-7d0c55a1e9';

export type SmallFleet = {
  env: Record<string, string>;
  /** Starts a role; it is stopped with the fleet. */
  start: (name: string, extra?: Record<string, string>) => Promise<FleetProcess>;
  /** Runs a command to its end. */
  run: (...args: string[]) => Promise<CliResult>;
  /** Register a sample application with this number of games. */
  addApplication: (application_id: string, games: number) => Promise<void>;
  killRedis: () => Promise<void>;
  startRedis: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

export const withoutRedis = (): boolean => inject('redisUrl') === null;

/** A fleet of processes with its own database and Redis. No role runs yet. */
export const createSmallFleet = async (): Promise<SmallFleet> => {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-ops-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  started.defer(database.drop);
  const redis = started.use(await startRedisServer());
  const env = {
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redis.url,
    QUEUE_PREFIX: `{ops-${randomUUID()}}`,
    CATALOGUE_HOME: join(directory, 'home'),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    API_PORT: '0',
    CONSOLE_PORT: '0',
    KYC_DESK_PORT: '0',
  };
  const all = started.move();
  const run: SmallFleet['run'] = (...args) => runCli(args, env);
  return {
    env,
    start: async (name, extra = {}) => {
      const process = await startFleetProcess(name, { ...env, ...extra });
      all.defer(() => process.stop());
      return process;
    },
    run,
    addApplication: async (application_id, games) => {
      const server = await startSampleApplication({
        accessToken: PLANTED_TOKEN,
        games,
        seed: application_id,
      });
      all.defer(() => server.close());
      const tokenFile = join(directory, `${application_id}.token`);
      await writeFile(tokenFile, PLANTED_TOKEN);
      const webhooks = ['list', 'detail', 'kyc'].flatMap((kind) => {
        const name =
          kind === 'list' ? 'query_game_list' : kind === 'detail' ? 'query_game_detail' : 'query_cp_kyc';
        return [`--${name.replaceAll('_', '-')}-webhook`, `${server.url}/webhooks/${name}`];
      });
      const added = await run(
        ...['app', 'add', application_id, '--name', application_id, ...webhooks],
        ...['--access-token-file', tokenFile],
      );
      if (added.exit !== 0) throw new Error(added.stderr);
    },
    killRedis: () => redis.end('SIGKILL'),
    startRedis: redis.start,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
