import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { type Runner, startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const logger = pino({ level: 'silent' });
const live = new AbortController().signal;
const numbered = defineSpec({
  name: 'numbered',
  payload: z.object({ n: z.number(), fails: z.boolean() }),
  options: { attempts: 1, backoffMs: 1, concurrency: 1 },
  title: ({ n }) => `number ${n}`,
});
const job = defineJob(numbered, async ({ n, fails }, _context: JobContext) => {
  if (fails) throw new Error(`not ${n}`);
  return { n };
});

let fleet: TestFleet;
let producer: Producer;
let runner: Runner;
const start = async (kind: 'redis' | 'postgres'): Promise<void> => {
  fleet = await startTestFleet(kind);
  producer = createProducer(fleet.backend, [numbered], () => {});
  runner = startRunner(fleet.backend, [job], fleet.deps, localClock, logger, () => {});
};
const stop = async (): Promise<void> => {
  await runner?.stop(1_000);
  await producer?.close();
  await fleet?.stop();
};
const counts = () => producer.queue(numbered).getJobCounts('completed', 'failed');
/** Runs as many jobs that complete and that fail, one after another. */
const run = async (completed: number, failed: number): Promise<void> => {
  const payloads = Array.from({ length: completed + failed }, (_, n) => ({ n, fails: n >= completed }));
  for (const payload of payloads) await producer.add(numbered, payload);
  await until('all have ended', async () => {
    const ended = await counts();
    return ended.completed === completed && ended.failed === failed;
  });
};

describe('On PostgreSQL', () => {
  beforeAll(() => start('postgres'));
  afterAll(stop);

  test('a pass of the reconciler leaves the jobs that ended last', async () => {
    await run(3, 2);
    const { sql } = fleet;
    await sql`
      insert into bullmq.job (queue, id, seq, name, state, data, opts, added_at_ms, finished_at_ms)
      select 'numbered', state || '-' || n, -n, 'old', state, '{}', '{}', 1000 * n, 1000 * n
      from unnest('{completed,failed}'::bullmq.job_state[]) state, generate_series(1, 12000) n`;
    const context = { sql, backend: fleet.backend, logger };
    await reconcile({ ...context, producer: { ...fleet.producer, trim: producer.trim } }, live);
    expect(await counts()).toMatchObject({ completed: 1_000, failed: 5_000 });
    const idAt = async (state: 'completed' | 'failed', place: number) =>
      (await producer.queue(numbered).getJobs([state], place, place))[0]?.id;
    expect(await idAt('completed', 3)).toBe('completed-12000');
    expect(await idAt('failed', 2)).toBe('failed-12000');
  });
});

onBothBackends('A job that ends', (kind) => {
  beforeAll(() => start(kind));
  afterAll(stop);

  test('is kept, and says how its queue keeps it', async () => {
    await run(1, 1);
    const [completed] = await producer.queue(numbered).getCompleted();
    const count = (kept: number) => (kind === 'redis' ? { count: kept } : {});
    expect(completed?.opts).toMatchObject({
      removeOnComplete: { age: 86_400, ...count(1_000) },
      removeOnFail: { age: 7 * 86_400, ...count(5_000) },
    });
    // With a number, BullMQ reads all kept jobs whenever a job ends on PostgreSQL.
    if (kind === 'postgres') expect(completed?.opts.removeOnComplete).not.toHaveProperty('count');
  });
});
