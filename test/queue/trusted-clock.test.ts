import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { parseSchedulerJobId, schedulerJobId } from '#src/queue/scheduled-jobs.ts';
import { CLOCK_BOUND_MS, openTrustedClock } from '#src/queue/trusted-clock.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;

/** The clock of a Postgres that is this far from the clock of this machine. */
const openClock = async (aheadMs = 0) => {
  const server = { aheadMs, readings: 0 };
  const clock = await openTrustedClock(async () => {
    server.readings += 1;
    return new Date(Date.now() + server.aheadMs);
  });
  return { server, clock };
};

test.for([
  [-HOUR_MS, '3600 s ahead of'],
  [HOUR_MS, '3600 s behind'],
])('A clock that is %d ms from the clock of Postgres is wrong, and says so', async ([aheadMs, words]) => {
  const { server, clock } = await openClock(aheadMs as number);
  expect(clock.fault()).toContain(words);
  expect(Math.abs(clock.now() - Date.now() - (aheadMs as number))).toBeLessThan(CLOCK_BOUND_MS);
  server.aheadMs = CLOCK_BOUND_MS / 2;
  await clock.read();
  expect(clock.fault()).toBeUndefined();
});

test('A clock that jumps is found wrong before Postgres is asked again', async () => {
  const { server, clock } = await openClock();
  expect(clock.fault()).toBeUndefined();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  onTestFinished(() => void vi.useRealTimers());
  expect(clock.fault()).toContain('ahead of');
  expect(server.readings).toBe(1);
});

test('A reading that takes longer than clocks may differ does not replace a better one', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let takesMs = 0;
  const clock = await openTrustedClock(async () => {
    const time = new Date();
    vi.advanceTimersByTime(takesMs);
    return time;
  });
  takesMs = 4 * CLOCK_BOUND_MS;
  await clock.read();
  expect(clock.offsetMs()).toBe(0);
});

const counted = defineSpec({
  name: 'counted',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 0, concurrency: 3 },
  title: () => 'counted',
});

onBothBackends('A process whose clock is wrong', (kind) => {
  const start = async (aheadMs: number) => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const onError = () => {};
    const producer = createProducer(fleet.backend, [counted], onError);
    onTestFinished(producer.close);
    const ran: string[] = [];
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    const startOne = (name: string, clock: Awaited<ReturnType<typeof openClock>>['clock']) => {
      const job = defineJob(counted, async () => {
        ran.push(name);
        return {};
      });
      const runner = startRunner(fleet.backend, [job], undefined, clock, logger, onError);
      onTestFinished(() => runner.stop(1_000));
      return runner;
    };
    const { server, clock } = await openClock(aheadMs);
    const runner = startOne('wrong', clock);
    await runner.ready();
    return { producer, queue: producer.queue(counted), server, clock, runner, ran, lines, startOne };
  };

  test('takes no job until its clock is right', async () => {
    const { producer, queue, server, clock, runner, ran, lines, startOne } = await start(HOUR_MS);
    const { id } = await producer.add(counted, {});
    // A right process shows that the wrong one had its chance.
    const right = startOne('right', (await openClock()).clock);
    await until('the job has ended', async () => (await queue.getJobState(id ?? '')) === 'completed');
    await right.stop(1_000);
    expect(ran).toEqual(['right']);
    expect(lines.join('')).toContain('no job is taken: the clock of this machine is 3600 s behind');

    const later = await producer.add(counted, {});
    server.aheadMs = 0;
    await clock.read();
    await runner.followClock();
    await until('it has ended', async () => (await queue.getJobState(later.id ?? '')) === 'completed');
    expect(ran).toEqual(['right', 'wrong']);
  });

  test('returns a job that it has taken, without an attempt', async () => {
    const { producer, queue, server, clock, ran, lines, startOne } = await start(0);
    server.aheadMs = HOUR_MS;
    await clock.read();
    const { id = '' } = await producer.add(counted, {});
    await until('the job was refused', () => lines.join('').includes('no job is taken'));
    const right = startOne('right', (await openClock()).clock);
    await until('the job has ended', async () => (await queue.getJobState(id)) === 'completed');
    await right.stop(1_000);
    expect(ran).toEqual(['right']);
    expect(await queue.getJob(id)).toMatchObject({ attemptsMade: 1 });
  });
});

test('The id of a tick tells which scheduler planned it, and for when', () => {
  const tick = { scheduler_id: 'games.acme:1', plannedAt: 1_700_000_000_000 };
  expect(parseSchedulerJobId(schedulerJobId(tick.scheduler_id, tick.plannedAt))).toEqual(tick);
  expect(parseSchedulerJobId('1')).toBeUndefined();
  expect(parseSchedulerJobId('d5b1.1.2')).toBeUndefined();
});
