import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { deliverEvent, fetchPictures, jobSpecs } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

test.skipIf(inject('redisUrl') === null)(
  'a job of megabytes that somebody wrote to Redis fails once, with a short reason and short lines in the log',
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
    const long = 'x'.repeat(3_000_000);
    const forged = [
      [deliverEvent, { application_id: long }],
      [fetchPictures, { game_ids: Array.from({ length: 100_000 }, () => 'no id'), icons_only: true }],
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
