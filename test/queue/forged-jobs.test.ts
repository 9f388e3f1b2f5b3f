import { Redis } from 'ioredis';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, inject, test } from 'vitest';
import { reconcile } from '#src/ingest/reconcile.ts';
import { deliverEvent, fetchPictures, jobSpecs, recheckPictures, tick } from '#src/ingest/specs.ts';
import { addQueueMetrics } from '#src/metrics/queue-metrics.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { defineJob } from '#src/queue/job.ts';
import { LARGE_JOB } from '#src/queue/large-jobs.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { startRedisWithUsers } from '#test/support/redis-users.ts';
import { until } from '#test/support/until.ts';

test.skipIf(inject('redisUrl') === null)(
  'a job that somebody wrote to Redis fails once, with a short reason and short lines in the log',
  async () => {
    const fleet = await startTestFleet('redis');
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    const producer = createProducer(fleet.backend, jobSpecs, () => {});
    stack.defer(producer.close);
    const lines: string[] = [];
    const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
    const never = async () => {
      throw new Error('the handler ran');
    };
    const jobs = [defineJob(deliverEvent, never), defineJob(fetchPictures, never)];
    const runner = startRunner(fleet.backend, jobs, fleet.deps, localClock, logger, () => {});
    stack.defer(() => runner.stop(1_000));
    const long = 'x'.repeat(90_000);
    const forged = [
      [deliverEvent, { application_id: long }],
      [fetchPictures, { game_ids: Array.from({ length: 5_000 }, () => 'no id'), icons_only: true }],
    ] as const;
    for (const [spec, payload] of forged) {
      const queue = producer.queue(spec as never);
      const job = await queue.add('forged', payload, { attempts: 5 });
      await until(`${spec.name} fails`, async () => (await job.getState()) === 'failed');
      const failed = await queue.getJob(job.id ?? '');
      expect([spec.name, failed?.attemptsMade]).toEqual([spec.name, 1]);
      expect(failed?.failedReason.length).toBeLessThan(2_000);
      expect(failed?.failedReason).toContain('payload does not fit');
    }
    for (const line of lines) expect(line.length).toBeLessThan(4_000);
  },
);

/** A Redis with a user for each process, and the queue of events there as a worker reads it. `ran`: payloads of its job. */
const aWorkersQueue = async (stack: AsyncDisposableStack) => {
  const redis = stack.use(await startRedisWithUsers());
  const place = { databaseUrl: '', redisUrl: redis.urlOf('worker'), prefix: '{catalogue}' };
  const backend = openQueueBackend({ ...place, use: 'worker', onError: () => {} });
  stack.defer(backend.close);
  const ran: unknown[] = [];
  const job = defineJob(deliverEvent, async (payload) => {
    ran.push(payload);
    return {};
  });
  const key = (name: string) => `{catalogue}:deliver-event:${name}`;
  return { redis, backend, job, ran, key };
};

const FORGE = `
  redis.call('hset', KEYS[1], 'name', 'forged', 'data', '"' .. string.rep('x', 100000000) .. '"', 'opts', '{}')
  redis.call('lpush', KEYS[2], 'huge')
  redis.call('zadd', KEYS[3], 0, '0')`;

test.skipIf(inject('redisUrl') === null)(
  'Redis does not send a job of 100 MB that a script made: it fails, and the jobs after it run',
  async () => {
    await using stack = new AsyncDisposableStack();
    const { redis, backend, job, ran, key } = await aWorkersQueue(stack);
    const producer = createProducer(backend, [deliverEvent], () => {});
    stack.defer(producer.close);
    const sent = async () =>
      Number(/total_net_output_bytes:(\d+)/.exec(await redis.admin.info('stats'))?.[1] ?? Number.NaN);
    const before = await sent();
    await redis.admin.eval(FORGE, 3, key('huge'), key('wait'), key('marker'));
    const silent = pino({ level: 'silent' });
    const runner = startRunner(backend, [job], undefined, localClock, silent, () => {}, { lockMs: 1_000 });
    stack.defer(() => runner.stop(1_000));
    await producer.add(deliverEvent, { application_id: 'acme' });
    await until('the job after it runs', async () => ran.length > 0);
    await until('the huge job fails', async () => (await redis.admin.zscore(key('failed'), 'huge')) !== null);
    expect(await redis.admin.memory('USAGE', key('huge'), 'SAMPLES', 0)).toBeLessThan(10_000);
    expect((await sent()) - before).toBeLessThan(5_000_000);
    expect(ran[0]).toEqual({ application_id: 'acme' });
  },
);

const JUNK = 2_000_000;

test.skipIf(inject('redisUrl') === null)(
  'a job of 6 MB beside what it needs does not run: its data are not parsed, and it is deleted',
  async () => {
    await using stack = new AsyncDisposableStack();
    const { redis, backend, job, ran, key } = await aWorkersQueue(stack);
    const flat = `'[' .. string.rep('[],', ${JUNK}) .. '[]]'`;
    const deep = `string.rep('[', ${JUNK}) .. string.rep(']', ${JUNK})`;
    for (const [id, field, start, junk] of [
      ['1', 'data', '{"application_id":"acme","junk":', flat],
      ['2', 'opts', '{"junk":', flat],
      ['3', 'opts', '{"junk":', deep],
    ] as const)
      await redis.admin.eval(
        `redis.call('hset', KEYS[1], 'name', 'forged', 'data', '{"application_id":"acme"}', 'timestamp', 1)
         redis.call('hset', KEYS[1], '${field}', '${start}' .. ${junk} .. '}')
         redis.call('lpush', KEYS[2], '${id}')
         redis.call('zadd', KEYS[3], 0, '0')`,
        3,
        ...[key(id), key('wait'), key('marker')],
      );
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
    const runner = startRunner(backend, [job], undefined, localClock, logger, () => {});
    stack.defer(() => runner.stop(1_000));
    // On a loaded machine the lock ends before the job: its hash is deleted then, and a short failure stays.
    const sizes = () =>
      Promise.all(['1', '2', '3'].map((id) => redis.admin.memory('USAGE', key(id), 'SAMPLES', 0)));
    await until('they are deleted', async () => (await sizes()).every((bytes) => (bytes ?? 0) < 10_000));
    const logged = () => lines.map((line) => JSON.parse(line));
    await until('each is logged', () => new Set(logged().map(({ job_id }) => job_id)).size === 3);
    expect(ran).toEqual([]);
    for (const line of logged()) expect(line).toMatchObject({ job: 'deliver-event', msg: LARGE_JOB });
  },
);

test.skipIf(inject('redisUrl') === null)(
  'keys of another type in a queue of the media process stop no chore of the workers, and hide its counts alone',
  async () => {
    const fleet = await startTestFleet('redis');
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    for (const state of ['delayed', 'wait'])
      await fleet.backend.redis?.set(`${fleet.prefix}:${fetchPictures.name}:${state}`, 'no list');
    await fleet.sql`
      insert into workers (worker_id, host, pid, queue, seen_at) values (gen_random_uuid(), 'h', 1, 'Postgres', now() - interval '1 day')`;
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    await reconcile({ ...fleet, logger }, new AbortController().signal);
    expect(await fleet.sql`select from workers`).toEqual([]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { queue: fetchPictures.name, error: 'another program wrote to the keys of the queues (WRONGTYPE)' },
    ]);
    const registry = new Registry();
    addQueueMetrics(registry, fleet.producer.queues(), fleet.backend);
    const text = await registry.metrics();
    expect(text).toContain(`bullmq_job_count{queue="${deliverEvent.name}",state="waiting"} 0`);
    expect(text).not.toContain(fetchPictures.name);
  },
);

test.skipIf(inject('redisUrl') === null).each(['producer', 'worker'] as const)(
  'a reply that Redis does not send fails a command of a %s, and no command after it',
  async (use) => {
    await using stack = new AsyncDisposableStack();
    const redis = stack.use(await startRedisWithUsers());
    const place = { databaseUrl: '', redisUrl: redis.urlOf('worker'), prefix: '{catalogue}' };
    const backend = openQueueBackend({ ...place, use, onError: () => {} });
    stack.defer(backend.close);
    await redis.admin.eval("redis.call('set', KEYS[1], string.rep('x', 25000000))", 1, '{catalogue}:huge');
    await expect(backend.redis?.get('{catalogue}:huge')).rejects.toThrow('sends no reply');
    expect(await backend.redis?.set('{catalogue}:small', 'x')).toBe('OK');
  },
);

/** Writes a hash of 25 MB, which Redis does not send. */
const FILL = "for n = 1, 25 do redis.call('hset', KEYS[1], 'junk' .. n, string.rep('x', 1000000)) end";

test.skipIf(inject('redisUrl') === null)(
  'jobs and ids that Redis does not send, in queues of the media process, stop no chore of the workers, nor does such a scheduler',
  async () => {
    const fleet = await startTestFleet('postgres');
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    await fleet.addApplication('acme', 1, { every_ms: 24 * 60 * 60_000 });
    const redis = stack.use(await startRedisWithUsers());
    const place = { databaseUrl: '', redisUrl: redis.urlOf('worker'), prefix: '{catalogue}' };
    const backend = openQueueBackend({ ...place, use: 'producer', onError: () => {} });
    stack.defer(backend.close);
    const producer = createProducer(backend, jobSpecs, () => {});
    stack.defer(producer.close);
    const media = new Redis(redis.urlOf('media'));
    stack.defer(() => media.disconnect());
    const later = (Date.now() + 24 * 60 * 60_000) * 0x1000;
    const fetching = `{catalogue}:${fetchPictures.name}`;
    await media.eval(FILL, 1, `${fetching}:huge`);
    await media.zadd(`${fetching}:delayed`, later, 'huge');
    for (let n = 0; n < 20; n += 1)
      await media.zadd(`{catalogue}:${recheckPictures.name}:delayed`, later, `${n}${'x'.repeat(900_000)}`);
    await fleet.sql`
      insert into workers (worker_id, host, pid, queue, seen_at) values (gen_random_uuid(), 'h', 1, 'Postgres', now() - interval '1 day')`;
    const logger = pino({ level: 'silent' });
    const pass = () => reconcile({ sql: fleet.sql, backend, producer, logger }, new AbortController().signal);
    await pass();
    expect(await fleet.sql`select from workers`).toEqual([]);
    const scheduler = `{catalogue}:${tick.name}:repeat:games.acme`;
    const set = await redis.admin.hgetall(scheduler);
    expect(set).toMatchObject({ name: 'acme games' });
    await redis.admin.eval(FILL, 1, scheduler);
    // Those that are read at the same time fail with it.
    await pass().catch(() => {});
    await pass();
    expect(await redis.admin.hkeys(scheduler)).toEqual(Object.keys(set));
    await redis.admin.eval(
      "redis.call('set', KEYS[1], string.rep('x', 25000000))",
      1,
      `{catalogue}:${deliverEvent.name}:de:acme`,
    );
    const { id } = await producer.add(deliverEvent, { application_id: 'acme' }, { once: 'acme' });
    expect(await producer.queue(deliverEvent).getJobState(id ?? '')).toBe('waiting');
  },
);
