import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PermanentError } from '#src/errors.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;

const postponed = defineSpec({
  name: 'postponed',
  payload: z.object({ waitMs: z.number() }),
  options: { attempts: 1, backoffMs: 0, concurrency: 1 },
  title: () => 'postponed',
});
const postponedJob = defineJob(postponed, async ({ waitMs }, { postpone }) => {
  throw postpone(waitMs) ?? new PermanentError('waited long enough');
});

onBothBackends('A postponed job', (kind) => {
  test('waits for at most an hour in all, even if clocks jump', async () => {
    const fleet = await startTestFleet(kind);
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    const onError = () => {};
    const producer = createProducer(fleet.backend, [postponed], onError);
    stack.defer(producer.close);
    const queue = producer.queue(postponed);
    const waits = await producer.add(postponed, { waitMs: HOUR_MS / 2 }, { id: 'waits' });
    const waited = await producer.add(postponed, { waitMs: HOUR_MS / 2 }, { id: 'waited' });
    await waited.updateProgress({ postponed_ms: HOUR_MS / 2 + 1, postponed_times: 1 });

    const runner = startRunner(
      fleet.backend,
      [postponedJob],
      fleet.deps,
      localClock,
      pino({ level: 'silent' }),
      onError,
    );
    stack.defer(() => runner.stop(1_000));
    await until('both have run', async () => (await queue.getJobCounts('failed')).failed === 1);
    expect(await (await queue.getJob('waited'))?.getState()).toBe('failed');
    expect((await queue.getJob('waited'))?.failedReason).toContain('waited long enough');
    expect(await waits.getState()).toBe('delayed');
    expect((await queue.getJob('waits'))?.progress).toEqual({
      postponed_ms: HOUR_MS / 2,
      postponed_times: 1,
    });
  });
});
