/** Jobs that somebody wrote to Redis, and whose data or options are no JSON of ours. Postgres stores none. */
import type { Job } from 'bullmq';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { reconcile } from '#src/ingest/reconcile.ts';
import { fetchPictures, tick } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';
import { redateDelayedJobs } from '#src/queue/misdated-jobs.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;
const logger = pino({ level: 'silent' });
const PAYLOAD = { game_ids: ['019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b'], icons_only: true };

describe.skipIf(inject('redisUrl') === null)('A job that cannot be read', () => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startTestFleet('redis');
  });
  afterAll(() => fleet.stop());
  const queue = () => fleet.producer.queue(fetchPictures);
  const spoil = async ({ id = '' }: Job, field: 'data' | 'opts'): Promise<void> => {
    const key = `${fleet.prefix}:${fetchPictures.name}:${id}`;
    await fleet.backend.redis?.hset(key, field, field === 'data' ? '{no JSON' : 'null');
  };
  const clean = async (): Promise<void> => {
    for (const state of ['delayed', 'failed'] as const) await queue().clean(0, 1_000, state);
  };
  const addMisdated = () =>
    queue().add('misdated', PAYLOAD, { timestamp: Date.now() + HOUR_MS, delay: 1_000 });

  test('keeps no pass of the reconciler, and no other job from its time', async () => {
    for (const field of ['data', 'opts'] as const) await spoil(await addMisdated(), field);
    for (let added = 0; added < 120; added += 1) await spoil(await addMisdated(), 'opts');
    const last = await addMisdated();
    const { signal } = new AbortController();
    const { backend, producer, sql } = fleet;
    expect(await redateDelayedJobs(backend, producer, tick, Date.now(), signal, logger)).toBe(1);
    expect((await queue().getJob(last.id ?? ''))?.delay).toBeLessThan(HOUR_MS);
    await sql`
      insert into workers (worker_id, host, pid, queue, seen_at)
      values (gen_random_uuid(), 'h', 1, 'Postgres', now() - interval '1 day')`;
    await reconcile({ sql, backend, producer, logger }, signal);
    expect(await sql`select from workers`).toEqual([]);
  });

  test('keeps no job after it from its worker', async () => {
    await clean();
    for (const field of ['data', 'opts'] as const) await spoil(await queue().add('forged', PAYLOAD), field);
    let ran = 0;
    const job = defineJob(fetchPictures, async () => {
      ran += 1;
      return {};
    });
    const runner = startRunner(fleet.backend, [job], undefined, localClock, logger, () => {}, {
      lockMs: 1_000,
    });
    await queue().add('ours', PAYLOAD);
    await until('the job after it runs', async () => ran > 0, 20_000);
    await runner.stop(1_000);
  });

  test('fails once it has stalled, whichever part of it BullMQ cannot read, and keeps no other job for longer', async () => {
    const broken = [
      ['opts', 'null'],
      ['parent', '{no JSON'],
      ['parent', 'null'],
      ['progress', '{no JSON'],
      ['ats', 'no number'],
      ['rjk', 'no scheduler'],
    ] as const;
    const ids: string[] = [];
    for (const [field, value] of broken) {
      const { id = '' } = await queue().add('forged', PAYLOAD);
      await fleet.backend.redis?.hset(`${fleet.prefix}:${fetchPictures.name}:${id}`, field, value);
      ids.push(id);
    }
    const fails = defineJob(fetchPictures, async () => {
      throw new Error('no picture');
    });
    const runner = startRunner(fleet.backend, [fails], undefined, localClock, logger, () => {}, {
      lockMs: 1_000,
    });
    const failed = async (id: string) => (await queue().getFailed()).some((job) => job.id === id);
    for (const id of ids) await until(`${id} fails`, () => failed(id), 30_000);
    await runner.stop(1_000);
  });

  test('a key of another type, by which a worker takes no job, is named, and no longer once it is gone', async () => {
    const job = defineJob(fetchPictures, async () => ({}));
    const marker = `${fleet.prefix}:${fetchPictures.name}:marker`;
    await fleet.backend.redis?.del(marker);
    await fleet.backend.redis?.set(marker, 'no set');
    const runner = startRunner(fleet.backend, [job], undefined, localClock, logger, () => {}, {
      lockMs: 3_000,
    });
    await until('it is named', () => runner.fault() !== undefined, 20_000);
    expect(runner.fault()).toBe(
      `jobs of ${fetchPictures.name} are not taken: another program wrote to the keys of the queues (WRONGTYPE)`,
    );
    await fleet.backend.redis?.del(marker);
    await until('it is right again', () => runner.fault() === undefined, 20_000);
    await runner.stop(1_000);
  });
});
