import type { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { setApplicationStatus } from '#db/queries/applications.ts';
import { reconcileSchedules, type SchedulePosition } from '#src/ingest/schedules.ts';
import { tick } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';
import { schedulerJobId } from '#src/queue/scheduled-jobs.ts';
import { useScheduledFleet } from '#test/ingest/scheduled-fleet.ts';
import { addApplication } from '#test/support/factories.ts';
import { onBothBackends } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const live = new AbortController().signal;
const HOUR_MS = 60 * 60_000;

onBothBackends('A pass over schedules', (kind) => {
  const world = useScheduledFleet(kind);
  const { reconcile, schedulers, setNext } = world;

  /** A producer that cannot set the schedulers of these ids. */
  const failing = (fails: (id: string) => boolean): Producer => ({
    ...world.fleet.producer,
    queue: (job) =>
      new Proxy(world.fleet.producer.queue(job), {
        get: (target, name) => {
          if (name !== 'upsertJobScheduler') return Reflect.get(target, name);
          return async (...args: Parameters<Queue['upsertJobScheduler']>) => {
            if (fails(args[0])) throw new Error('scheduler job slots busy');
            return target.upsertJobScheduler(...args);
          };
        },
      }),
  });

  it('are left alone while a late tick waits in its queue, and restored when it is lost', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    await reconcile();
    const late = Date.now() - 10 * 60_000;
    await setNext('games.one', late);
    const ticks = world.fleet.producer.queue(tick);
    const { id = '' } = await ticks.add('one games', {}, { jobId: `repeat:games.one:${late}` });
    expect(await reconcile()).toEqual({ set: 0, removed: 0 });
    expect((await ticks.getJobScheduler('games.one'))?.next).toBe(late);

    await ticks.remove(id);
    expect(await reconcile()).toEqual({ set: 1, removed: 0 });
    expect((await ticks.getJobScheduler('games.one'))?.next).toBeGreaterThan(Date.now());
  });

  it('of an application that was not pulled since its tick was due get that tick, once', async () => {
    const intervals = { every_ms: 24 * HOUR_MS, kyc_every_ms: 24 * HOUR_MS };
    await world.fleet.addApplication('one', 3, intervals);
    await addApplication(world.fleet.sql, 'new', intervals);
    await world.fleet
      .sql`update applications set updated_at = now() - interval '2 days' where application_id = 'one'`;
    const ticks = world.fleet.producer.queue(tick);
    const waiting = async () => (await ticks.getWaiting()).map(({ name }) => name).sort();
    for (let lost = 0; lost < 2; lost += 1) {
      await world.fleet.flushQueue();
      await reconcile();
      await reconcile();
      expect(await waiting()).toEqual(['one games', 'one kyc']);
    }

    const worker = await world.fleet.startWorker();
    await until('both were pulled', async () => {
      const [row] = await world.fleet.sql<{ runs: number; pulls: number }[]>`
        select (select count(*)::int from sync_runs where outcome = 'succeeded') as runs,
               (select count(*)::int from kyc_states where requested_at is not null or pulled_at is not null) as pulls`;
      return row?.runs === 1 && row.pulls === 1;
    });
    await worker.stop(5_000);
    await world.fleet.flushQueue();
    await reconcile();
    expect(await waiting()).toEqual([]);
  });

  it('are left alone when they tick while a pass reads them', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    await reconcile();
    const ticks = world.fleet.producer.queue(tick);
    const before = (await ticks.getJobScheduler('games.one'))?.next ?? 0;
    await setNext('games.one', before - 2 * HOUR_MS);
    const ticking = new Proxy(ticks, {
      get: (target, name) => {
        if (name !== 'getRanges') return Reflect.get(target, name);
        return async (...range: Parameters<Queue['getRanges']>) => {
          await setNext('games.one', before);
          return ticks.getRanges(...range);
        };
      },
    });
    const queue: Producer['queue'] = (job) => (job === tick ? ticking : world.fleet.producer.queue(job));
    const producer = { ...world.fleet.producer, queue };
    expect(await reconcile(producer)).toEqual({ set: 0, removed: 0 });
    expect((await ticks.getJobScheduler('games.one'))?.next).toBe(before);
  });

  it('stay as they are while more than 1,000 ticks wait', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    const ticks = world.fleet.producer.queue(tick);
    await ticks.addBulk(Array.from({ length: 1_001 }, () => ({ name: 'tick', data: {} })));
    const pass = () => reconcileSchedules(world.fleet.sql, world.fleet.producer, live);
    expect(await pass()).toMatchObject({ set: 0, removed: 0, isComplete: false });
    await ticks.drain();
    expect(await pass()).toMatchObject({ set: 2, removed: 0, isComplete: true });
  });

  it('of a large fleet are set pass by pass: each continues where the former ended, games first', async () => {
    for (const id of ['one', 'two', 'three']) await addApplication(world.fleet.sql, id);
    const pass = (from?: SchedulePosition) =>
      reconcileSchedules(world.fleet.sql, world.fleet.producer, live, from, 2);
    const keys = async () => (await schedulers()).map(({ key }) => key).sort();
    const first = await pass();
    expect(first).toMatchObject({ set: 2, removed: 0, isComplete: false });
    expect(await keys()).toEqual(['games.one', 'games.three']);
    await setApplicationStatus(world.fleet.sql, 'one', 'paused');
    const second = await pass(first.next);
    expect(second).toMatchObject({ set: 1, removed: 0 });
    expect(await keys()).toEqual(['games.one', 'games.three', 'games.two']);
    const third = await pass(second.next);
    expect(third).toMatchObject({ set: 2, removed: 0 });
    const last = await pass(third.next);
    const atStart = { isComplete: true, next: { schedule: 'games', after: '' } };
    expect(last).toEqual({ failed: 0, set: 0, removed: 0, ...atStart });
    expect(await pass(last.next)).toMatchObject({ set: 0, removed: 1 });
    expect(await keys()).toEqual(['games.three', 'games.two', 'kyc.three', 'kyc.two']);
    expect(await world.fleet.producer.queue(tick).getDelayedCount()).toBe(4);
  });

  it('that a pass did not reach before its deadline are set by the next one', async () => {
    for (let index = 0; index < 100; index += 1) await addApplication(world.fleet.sql, `app-${index}`);
    const deadline = new AbortController();
    const ticks = world.fleet.producer.queue(tick);
    let sets = 0;
    const slow = new Proxy(ticks, {
      get: (target, name) => {
        if (name === 'upsertJobScheduler' && ++sets === 60) deadline.abort();
        return Reflect.get(target, name);
      },
    });
    const queue: Producer['queue'] = (job) => (job === tick ? slow : world.fleet.producer.queue(job));
    const producer = { ...world.fleet.producer, queue };
    const { set, next } = await reconcileSchedules(world.fleet.sql, producer, deadline.signal);
    expect(set).toBe(100);
    expect(next).toMatchObject({ schedule: 'games' });
    expect(next.after).not.toBe('');
    const rest = await reconcileSchedules(world.fleet.sql, producer, live, next);
    const atStart = { isComplete: true, next: { schedule: 'games', after: '' } };
    expect(rest).toEqual({ failed: 0, set: 100, removed: 0, ...atStart });
    expect(await ticks.getDelayedCount()).toBe(200);
  });

  it('stay as they are after ticks were taken too early, because those wait for their time', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    await reconcile();
    const worker = await world.fleet.startWorker();
    const ticks = world.fleet.producer.queue(tick);
    const next = async () => (await ticks.getJobScheduler('games.one'))?.next ?? 0;
    const first = await next();
    for (let taken = 1; taken <= 4; taken += 1) {
      const before = await next();
      await (await ticks.getJob(schedulerJobId('games.one', before)))?.promote();
      await until('it was taken', async () => (await next()) > before);
      expect(await reconcile()).toEqual({ set: 0, removed: 0 });
    }
    await worker.stop(5_000);
    const moments = [0, 1, 2, 3, 4].map((hours) => first + hours * HOUR_MS);
    const states = moments.map((moment) => ticks.getJobState(schedulerJobId('games.one', moment)));
    expect(await Promise.all(states)).toEqual(Array(5).fill('delayed'));
    expect(await next()).toBe(moments[4]);
  });

  it('are set although one of them cannot be, and a queue that is down ends the pass', async () => {
    for (const id of ['one', 'two', 'three']) await addApplication(world.fleet.sql, id);
    const one = failing((id) => id === 'games.one');
    expect(await reconcileSchedules(world.fleet.sql, one, live)).toMatchObject({ set: 5, failed: 1 });
    await world.fleet.flushQueue();
    const all = failing(() => true);
    await expect(reconcileSchedules(world.fleet.sql, all, live)).rejects.toThrow('slots busy');
  });

  it('of a batch of one do not end the pass either, nor does the pruning, when they cannot be set', async () => {
    await addApplication(world.fleet.sql, 'one');
    const two = failing((id) => id === 'games.one' || id === 'prune');
    expect(await reconcileSchedules(world.fleet.sql, two, live)).toMatchObject({
      set: 1,
      failed: 2,
      isComplete: true,
    });
    expect((await schedulers()).map(({ key }) => key)).toEqual(['kyc.one']);
  });

  it('cost a pass no lookup of single jobs, however many ticks wait', async () => {
    for (let index = 0; index < 20; index += 1) await addApplication(world.fleet.sql, `app-${index}`);
    await reconcile();
    const late = Date.now() - 10 * 60_000;
    const ticks = world.fleet.producer.queue(tick);
    for (let index = 0; index < 20; index += 1) {
      await setNext(`games.app-${index}`, late);
      await ticks.add('tick', {}, { jobId: `repeat:games.app-${index}:${late}` });
    }
    const calls: string[] = [];
    const counted = new Proxy(ticks, {
      get: (target, name) => {
        calls.push(String(name));
        return Reflect.get(target, name);
      },
    });
    const queue: Producer['queue'] = (job) => (job === tick ? counted : world.fleet.producer.queue(job));
    await reconcile({ ...world.fleet.producer, queue });
    expect(calls.filter((name) => name === 'getJobState' || name === 'getJob')).toEqual([]);
    expect(calls.filter((name) => name === 'getRanges')).toHaveLength(5);
  });
});
