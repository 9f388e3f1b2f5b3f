import { expect, it } from 'vitest';
import { setApplicationStatus, updateApplication } from '#db/queries/applications.ts';
import { listRequestedKyc } from '#db/queries/kyc.ts';
import { SCHEDULES } from '#src/contract/words.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { parseSchedulerJobId, schedulerJobId } from '#src/queue/scheduled-jobs.ts';
import { tickOffset } from '#src/rules/ticks.ts';
import { useScheduledFleet } from '#test/ingest/scheduled-fleet.ts';
import { addApplication } from '#test/support/factories.ts';
import { onBothBackends } from '#test/support/fleet.ts';
import { removeApplication } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;

it('places ticks by their id: the same each time, within the interval, never at its very start', () => {
  const places = Array.from({ length: 200 }, (_, index) => tickOffset(`games.app-${index}`, HOUR_MS));
  expect(places).toEqual(
    Array.from({ length: 200 }, (_, index) => tickOffset(`games.app-${index}`, HOUR_MS)),
  );
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(Math.max(...places)).toBeLessThan(HOUR_MS);
  expect(new Set(places).size).toBeGreaterThan(190);
  expect(tickOffset('games.acme', HOUR_MS)).not.toBe(tickOffset('kyc.acme', HOUR_MS));
});

onBothBackends('Schedules', (kind) => {
  const world = useScheduledFleet(kind);
  const { reconcile, schedulers } = world;

  it('follow the applications: set, changed and removed as applications are', async () => {
    for (const id of ['one', 'two'])
      await addApplication(world.fleet.sql, id, { every_ms: HOUR_MS, kyc_every_ms: 24 * HOUR_MS });
    expect(await reconcile()).toEqual({ set: 4, removed: 0 });
    expect((await schedulers()).map(({ key, every }) => [key, every]).sort()).toEqual([
      ['games.one', HOUR_MS],
      ['games.two', HOUR_MS],
      ['kyc.one', 24 * HOUR_MS],
      ['kyc.two', 24 * HOUR_MS],
    ]);

    await updateApplication(world.fleet.sql, 'one', { every_ms: 2 * HOUR_MS });
    expect(await reconcile()).toEqual({ set: 1, removed: 0 });
    expect((await schedulers()).find(({ key }) => key === 'games.one')).toMatchObject({ every: 2 * HOUR_MS });

    await setApplicationStatus(world.fleet.sql, 'one', 'paused');
    expect(await reconcile()).toEqual({ set: 0, removed: 2 });
    await setApplicationStatus(world.fleet.sql, 'one', 'active');
    expect(await reconcile()).toEqual({ set: 2, removed: 0 });
    await removeApplication(world.fleet.sql, 'two');
    expect(await reconcile()).toEqual({ set: 0, removed: 2 });
  });

  it('stay as they are when nothing has changed, the next moment of each included', async () => {
    for (const id of ['one', 'two', 'three'])
      await addApplication(world.fleet.sql, id, { every_ms: HOUR_MS });
    await reconcile();
    const before = await schedulers();
    const waiting = await world.fleet.producer.queue(tick).getDelayedCount();
    for (let again = 0; again < 3; again += 1) expect(await reconcile()).toEqual({ set: 0, removed: 0 });
    expect(await schedulers()).toEqual(before);
    expect(await world.fleet.producer.queue(tick).getDelayedCount()).toBe(waiting);
    expect(waiting).toBe(6);
  });

  it('are restored after a flush, each in its place', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    await reconcile();
    const before = await schedulers();
    await world.fleet.flushQueue();
    expect(await schedulers()).toEqual([]);
    expect(await reconcile()).toEqual({ set: 2, removed: 0 });
    expect((await schedulers()).map(({ next: _, ...placed }) => placed)).toEqual(
      before.map(({ next: _, ...placed }) => placed),
    );
  });

  it('that a worker ran ahead with by a wrong clock are brought back', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS });
    await reconcile();
    const ticks = world.fleet.producer.queue(tick);
    const offset = tickOffset('games.one', HOUR_MS);
    await ticks.removeJobScheduler('games.one');
    const astray = { every: HOUR_MS, offset, startDate: Date.now() + 24 * HOUR_MS };
    await ticks.upsertJobScheduler('games.one', astray, { name: 'one games', data: {} });
    expect((await ticks.getJobScheduler('games.one'))?.next).toBeGreaterThan(Date.now() + 2 * HOUR_MS);
    expect(await reconcile()).toEqual({ set: 1, removed: 0 });
    const { every, next } = (await ticks.getJobScheduler('games.one')) ?? {};
    expect(every).toBe(HOUR_MS);
    expect(next).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    expect(await ticks.getDelayedCount()).toBe(2);
  });

  it('of an application that is not in the database end with their next tick', async () => {
    const id = 'gone';
    await addApplication(world.fleet.sql, id, { every_ms: 400 });
    await reconcile();
    await world.fleet.sql`delete from applications`;
    const worker = await world.fleet.startWorker();
    await until('the scheduler is gone', async () =>
      (await schedulers()).every(({ key }) => key !== 'games.gone'),
    );
    await worker.stop(5_000);
  });

  it('include one pruning, which stays undisturbed, and comes back when it was removed', async () => {
    const prunes = world.fleet.producer.queue(prune);
    const delayed = async () => (await prunes.getDelayed()).map(({ id, timestamp }) => ({ id, timestamp }));
    await reconcile();
    const [job] = await prunes.getDelayed();
    expect(job?.opts).toMatchObject({ removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } });
    const before = await delayed();
    expect(before).toHaveLength(1);
    for (let again = 0; again < 3; again += 1) await reconcile();
    expect(await delayed()).toEqual(before);
    expect(await prunes.getJobSchedulersCount()).toBe(1);

    await prunes.removeJobScheduler('prune');
    await reconcile();
    expect(await delayed()).toHaveLength(1);

    // As a former version has set it.
    const opts = { removeOnComplete: { count: 10 } };
    await prunes.upsertJobScheduler(
      'prune',
      { every: HOUR_MS, offset: 1 },
      { name: 'prune', data: {}, opts },
    );
    await reconcile();
    expect((await prunes.getDelayed()).map((each) => each.opts.removeOnFail)).toEqual([{ count: 10 }]);
  });

  it('tick within their interval, not all at once', async () => {
    for (const id of ['one', 'two', 'three'])
      await addApplication(world.fleet.sql, id, { every_ms: HOUR_MS });
    const began = Date.now();
    await reconcile();
    const next = (await schedulers())
      .filter(({ key }) => key.startsWith('games.'))
      .map(({ next: at }) => at ?? 0);
    for (const at of next) {
      expect(at).toBeGreaterThan(began);
      expect(at).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    }
    expect(new Set(next).size).toBe(3);
  });

  it('lose no tick while a database does not respond', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: 24 * HOUR_MS });
    await reconcile();
    // Its first four answers are errors, as while Postgres restarts.
    await world.fleet.sql.unsafe(`
      create sequence answers;
      create function answer() returns boolean language plpgsql as $$ begin
        if nextval('answers') <= 4 then raise exception 'starting up' using errcode = '57P03'; end if;
        return true;
      end $$;
      alter table applications rename to stored_applications;
      create view applications as select * from stored_applications where answer();
      grant select, update on applications to catalogue_worker;
      grant usage on sequence answers to catalogue_worker`);
    try {
      const worker = await world.fleet.startWorker();
      for (const schedule of SCHEDULES)
        await world.fleet.producer.add(tick, { application_id: 'one', schedule });
      await until('both ticks have come through', async () => {
        const runs = await world.fleet
          .sql`select from sync_runs where application_id = 'one' and trigger = 'schedule'`;
        return runs.length === 1 && (await listRequestedKyc(world.fleet.sql, 9)).length === 1;
      });
      await worker.stop(5_000);
    } finally {
      await world.fleet.sql.unsafe(
        'drop view applications; alter table stored_applications rename to applications; drop function answer; drop sequence answers',
      );
    }
  });

  it('do nothing before their time, although a worker takes their tick', async () => {
    await addApplication(world.fleet.sql, 'one', { every_ms: HOUR_MS, kyc_every_ms: HOUR_MS });
    await reconcile();
    const ticks = world.fleet.producer.queue(tick);
    const planned = (await schedulers()).map(({ key, next = 0 }) => schedulerJobId(key, next)).sort();
    const worker = await world.fleet.startWorker();
    // As a worker does whose clock is ahead.
    for (const id of planned) await (await ticks.getJob(id))?.promote();
    const taken = () => worker.loads().find(({ name }) => name === tick.name)?.taken;
    await until('both were taken', () => taken() === 2);
    await worker.stop(5_000);
    const states = await Promise.all(planned.map((id) => ticks.getJobState(id)));
    expect(states).toEqual(['delayed', 'delayed']);
    for (const id of planned) {
      const { processedOn = 0, delay = 0, attemptsMade } = (await ticks.getJob(id)) ?? {};
      expect(attemptsMade).toBe(0);
      expect(Math.abs(processedOn + delay - (parseSchedulerJobId(id)?.plannedAt ?? 0))).toBeLessThan(5_000);
    }
    expect(await world.fleet.sql`select from sync_runs where application_id = 'one'`).toHaveLength(0);
    expect(await listRequestedKyc(world.fleet.sql, 9)).toEqual([]);
  });

  it('really fire a run, and the next after it', async () => {
    const { server } = await world.fleet.addApplication('ticking', 3, { every_ms: 400 });
    const worker = await world.fleet.startWorker();
    await reconcile();
    await until('two scheduled runs have ended', async () => {
      const runs = await world.fleet.sql`
        select from sync_runs where trigger = 'schedule' and outcome = 'succeeded' and application_id = 'ticking'`;
      return runs.length >= 2;
    });
    expect(server.calls.query_game_detail).toBe(3);
    await removeApplication(world.fleet.sql, 'ticking');
    await reconcile();
    await worker.stop(5_000);
  });
});
