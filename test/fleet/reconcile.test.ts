import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { LOCKS } from '#db/locks.ts';
import { setApplicationStatus, updateApplication } from '#db/queries/applications.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { jobSpecs, tick } from '#src/ingest/specs.ts';
import { tickOffset } from '#src/rules/ticks.ts';
import { addApplication } from '#test/support/factories.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';

const silent = pino({ level: 'silent' });

onBothBackends('the reconciler', (kind) => {
  const fleet = useTestFleet(kind);
  beforeAll(async () => {
    for (const id of ['acme', 'beta', 'gamma']) await addApplication(fleet.sql, id);
  });

  const pass = () => reconcile({ ...fleet, logger: silent }, new AbortController().signal);
  const ticks = () => fleet.producer.queue(tick);
  const schedulers = async () =>
    (await ticks().getJobSchedulers())
      .map(({ key, every, offset }) => ({ key, every, offset }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));

  test('gives each active application its two schedules, once', async () => {
    await Promise.all([pass(), pass(), pass()]);
    expect((await schedulers()).map(({ key }) => key)).toEqual([
      'games.acme',
      'games.beta',
      'games.gamma',
      'kyc.acme',
      'kyc.beta',
      'kyc.gamma',
    ]);
    expect(await ticks().getDelayedCount()).toBe(6);
  });

  test('follows a change, a pause and a removal, and leaves the rest alone', async () => {
    const before = await schedulers();
    await updateApplication(fleet.sql, 'acme', { every_ms: 3_600_000 });
    await setApplicationStatus(fleet.sql, 'beta', 'paused');
    await pass();
    const after = await schedulers();
    expect(after.find(({ key }) => key === 'games.acme')?.every).toBe(3_600_000);
    expect(after.map(({ key }) => key)).not.toContain('games.beta');
    expect(after.filter(({ key }) => key.endsWith('gamma'))).toEqual(
      before.filter(({ key }) => key.endsWith('gamma')),
    );
    expect(await ticks().getDelayedCount()).toBe(4);
  });

  test('restores what a flush took, each at its own place in its interval', async () => {
    const before = await schedulers();
    await fleet.flushQueue();
    await pass();
    expect(await schedulers()).toEqual(before);
    const places = new Set(before.map(({ offset }) => offset));
    expect(places.size).toBe(before.length);
  });

  test('brings back a schedule that a worker ran ahead with by a wrong clock', async () => {
    const before = await schedulers();
    const every = 3_600_000;
    const astray = { every, offset: tickOffset('games.acme', every), startDate: Date.now() + 24 * every };
    await ticks().removeJobScheduler('games.acme');
    await ticks().upsertJobScheduler('games.acme', astray, { name: 'acme games', data: {} });
    expect((await ticks().getJobScheduler('games.acme'))?.next).toBeGreaterThan(Date.now() + 2 * every);
    await pass();
    expect((await ticks().getJobScheduler('games.acme'))?.next).toBeLessThanOrEqual(Date.now() + every);
    expect(await schedulers()).toEqual(before);
    expect(await ticks().getDelayedCount()).toBe(4);
  });

  test('does nothing while another worker has the lock', async () => {
    await fleet.flushQueue();
    await fleet.sql.begin(async (other) => {
      await other`select pg_advisory_xact_lock(${LOCKS.reconcile})`;
      await pass();
      expect(await schedulers()).toEqual([]);
    });
    await pass();
    expect(await schedulers()).toHaveLength(4);
  });

  test('every queue has a job and every job its queue', () => {
    expect(fleet.producer.queues().map(({ name }) => name)).toEqual(jobSpecs.map(({ name }) => name));
  });
});
