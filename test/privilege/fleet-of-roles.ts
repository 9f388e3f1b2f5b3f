import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import type { DatabaseRole } from '#db/roles.ts';
import { jobSpecs, prune } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer } from '#src/queue/producer.ts';
import { type SampleApplication, startSampleApplication } from '#src/sample-application/start.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { webhooksAt } from '#test/support/factories.ts';
import { type FleetProcess, scrape, startFleetProcess } from '#test/support/fleet-process.ts';
import { keysText } from '#test/support/kyc.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/postgres-server.ts';
import { type RedisWithUsers, startRedisWithUsers } from '#test/support/redis-users.ts';
import { roleUrls } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

const TOKEN = 'planted-token-of-a-fleet-of-roles';
const GAMES = 12;

/** A fleet whose processes have roles and secrets of their own: with its queues in Postgres, or in a Redis with users. */
export const testFleetOfRoles = (isRedis: boolean): void => {
  let database: TestDatabase;
  let owner: Database;
  let home: string;
  let server: SampleApplication;
  let shared: Record<string, string>;
  let urls: Record<string, string>;
  let redis: RedisWithUsers | undefined;
  const running: FleetProcess[] = [];
  const keys = { ENCRYPTION_KEYS: keysText('k1') };

  const variableOf = (role: string) => `DATABASE_URL_${role.toUpperCase()}`;
  const ownUrl = (role: DatabaseRole) => ({
    [variableOf(role)]: urls[variableOf(role)] ?? '',
    ...(redis && { REDIS_URL: redis.urlOf(role) }),
  });
  const start = async (command: string, role: DatabaseRole, more: Record<string, string> = {}) => {
    const process = await startFleetProcess(command, { ...shared, ...ownUrl(role), ...more });
    running.push(process);
    return process;
  };
  const operate = async (...args: string[]) => {
    const result = await runCli([...args, '--json'], { ...shared, ...ownUrl('operator'), ...keys });
    return { exit: result.exit, stderr: result.stderr, answer: documentOf(result) };
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = openDatabase(database.databaseUrl, { max: 2, applicationName: 'fleet of roles' });
    home = await mkdtemp(join(tmpdir(), 'catalogue-roles-'));
    await writeFile(join(home, 'token'), TOKEN);
    server = await startSampleApplication({ accessToken: TOKEN, games: GAMES, seed: 'roles' });
    urls = roleUrls(database.databaseUrl);
    if (isRedis) redis = await startRedisWithUsers();
    shared = {
      QUEUE_PREFIX: '{catalogue}',
      CATALOGUE_HOME: join(home, 'home'),
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
      METRICS_PORT: '0',
      API_PORT: '0',
      CONSOLE_PORT: '0',
      KYC_DESK_PORT: '0',
      LOG_LEVEL: 'debug',
    };
    const migrated = await runCli(['migrate'], {
      ...shared,
      ...ownUrl('operator'),
      DATABASE_URL: database.databaseUrl,
      ...urls,
    });
    expect(migrated).toMatchObject({ exit: 0, stderr: '' });
  });
  afterAll(async () => {
    await Promise.all(running.map((process) => process.stop()));
    await server.close();
    await owner.end();
    await database.drop();
    await redis?.[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  it('registers, pulls, decides, reveals, serves and prunes, and no process lacks a right', async () => {
    const worker = await start('worker', 'worker', keys);
    const api = await start('api', 'api');
    const consoleProcess = await start('console', 'console');
    const desk = await start('kyc-desk', 'kyc_desk', keys);

    const webhooks = Object.entries(webhooksAt(server.url)).flatMap(([name, address]) => [
      `--${name.replaceAll('_', '-')}`,
      address,
    ]);
    const token = ['--access-token-file', join(home, 'token')];
    expect(await operate('app', 'add', 'acme', '--name', 'Acme', ...webhooks, ...token)).toMatchObject({
      exit: 0,
      stderr: expect.not.stringContaining('warning'),
    });
    expect(await operate('app', 'check', 'acme')).toMatchObject({ exit: 0, stderr: '' });
    expect(await operate('sync', 'acme', '--wait')).toMatchObject({
      exit: 0,
      answer: { runs: [{ outcome: 'succeeded', inserted: GAMES }] },
    });
    const [first, second] = server.games.all();
    server.games.remove(first?.game_id ?? '');
    server.games.update(second?.game_id ?? '', { game_name: 'Renamed' });
    expect(await operate('sync', 'acme', '--wait', '--full')).toMatchObject({
      exit: 0,
      answer: { runs: [{ outcome: 'succeeded', withdrawn: 1, updated: 1 }] },
    });
    expect(await operate('kyc', 'pull', 'acme', '--wait')).toMatchObject({ exit: 0, stderr: '' });
    const reveal = ['--reveal', '--by', 'kim', '--reason', 'ticket 1'];
    expect((await operate('kyc', 'show', 'acme', ...reveal)).answer.record.tax_id).toMatch(/^XX-\d{9}$/);

    const { answer } = await operate('game', 'list', '--status', 'pending');
    const [pictured] = await owner<{ game_id: string }[]>`
    select game_id from games where cardinality(game_store_pic) > 0 and withdrawn_at is null limit 1`;
    const game = answer.games.find(({ game_id }: { game_id: string }) => game_id === pictured?.game_id);
    const decision = ['--by', 'kim', '--revision', String(game.revision)];
    expect(await operate('game', 'pass', game.game_id, ...decision)).toMatchObject({ exit: 0, stderr: '' });
    const media = await start('media', 'media');
    await until('the decision names the bytes of every picture', async () => {
      const [pins] = await owner`
      select count(*)::int as pins, count(sha256)::int as bound from picture_pins`;
      return pins?.pins > 0 && pins?.pins === pins?.bound;
    });
    const created = await operate('token', 'create', '--application', 'acme');
    const listed = await fetch(`${api.address}/open-api/game/list-by-audit-status`, {
      method: 'POST',
      headers: { authorization: `Bearer ${created.answer.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ audit_status: 'passed' }),
    });
    expect(await listed.json()).toMatchObject({ ret_code: 0, data: { total: 1 } });
    await until('the use of the token is recorded', async () => {
      const [row] = await owner`select last_used_at from api_tokens`;
      return row?.last_used_at !== null;
    });

    for (const command of ['failure list', 'queue status', 'audit verify'])
      expect({ command, ...(await operate(...command.split(' '))) }).toMatchObject({ command, exit: 0 });
    expect(await operate('kyc', 'reseal')).toMatchObject({ exit: 0, stderr: '' });
    expect(await operate('kyc', 'erase', 'acme', '--by', 'kim', '--reason', 'request')).toMatchObject({
      exit: 0,
    });
    await runPrune();
    for (const { metrics } of [worker, api, consoleProcess, media, desk]) {
      const samples = await scrape(metrics);
      for (const sample of [
        'catalogue_games{audit_status="passed"',
        'catalogue_workers{',
        'catalogue_queue_up{',
      ])
        expect([...samples].find(([name]) => name.startsWith(sample))).toEqual([expect.any(String), 1]);
    }
    expect(await operate('token', 'revoke', created.answer.token_id)).toMatchObject({
      exit: 0,
      stderr: '',
    });
    expect(await operate('app', 'remove', 'acme')).toMatchObject({ exit: 0, stderr: '' });
    for (const { log } of running) expect(log()).not.toContain('permission denied');
    // What a user of Redis lacks is in its log.
    if (redis) expect(await redis.admin.acl('LOG')).toEqual([]);
  });

  const runPrune = async () => {
    const databaseUrl = urls.DATABASE_URL_OPERATOR ?? '';
    const options = { databaseUrl, redisUrl: redis?.urlOf('operator'), prefix: shared.QUEUE_PREFIX ?? '' };
    const backend = openQueueBackend({ ...options, use: 'producer', onError: () => {} });
    const producer = createProducer(backend, jobSpecs, () => {});
    try {
      const { id } = await producer.add(prune, {});
      await until('the prune ends', async () =>
        ['completed', 'failed'].includes(await producer.queue(prune).getJobState(id ?? '')),
      );
      expect((await producer.queue(prune).getJob(id ?? ''))?.failedReason ?? null).toBeNull();
    } finally {
      await producer.close();
      await backend.close();
    }
  };
};
