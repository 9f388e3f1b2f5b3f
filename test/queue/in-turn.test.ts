import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

/** As many as ten thousand games make when they are pulled again by hand. */
const MANY = 100;
const FAILS = 3;

onBothBackends('Jobs that are added to run in turn', (kind) => {
  test('run one at a time and in order, and go on after one that failed', async () => {
    const ran: number[] = [];
    let [inHand, most] = [0, 0];
    const numbered = defineSpec({
      name: 'numbered',
      payload: z.object({ n: z.number() }),
      options: { attempts: 2, backoffMs: 1, concurrency: 10 },
      title: ({ n }) => `number ${n}`,
    });
    const job = defineJob(numbered, async ({ n }, { deps }: JobContext) => {
      inHand += 1;
      most = Math.max(most, inHand);
      await deps.sql`select 1`;
      inHand -= 1;
      if (n === FAILS) throw new Error('not this one');
      ran.push(n);
      return { n };
    });
    const onError = () => {};
    await using stack = new AsyncDisposableStack();
    const fleet = await startTestFleet(kind);
    stack.defer(fleet.stop);
    const producer = createProducer(fleet.backend, [numbered], onError);
    stack.defer(producer.close);
    const runner = startRunner(
      fleet.backend,
      [job],
      fleet.deps,
      localClock,
      pino({ level: 'silent' }),
      onError,
    );
    stack.defer(() => runner.stop(1_000));

    const numbers = Array.from({ length: MANY }, (_, n) => n);
    const added = await producer.addInTurn(
      numbered,
      numbers.map((n) => ({ n })),
    );
    expect(added.map((job) => job.data.n)).toEqual(numbers);
    await until('the last has ended', () => ran.at(-1) === MANY - 1);
    expect(ran).toEqual(numbers.filter((n) => n !== FAILS));
    expect(most).toBe(1);
    expect(await producer.queue(numbered).getJobCounts('failed', 'waiting-children')).toEqual({
      failed: 1,
      'waiting-children': 0,
    });
    expect(await producer.addInTurn(numbered, [])).toEqual([]);
    const [alone] = await producer.addInTurn(numbered, [{ n: MANY }]);
    await until('the one alone has run', () => ran.at(-1) === alone?.data.n);
  });
});
