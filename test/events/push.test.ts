import { describe, expect, it } from 'vitest';
import { deliverEvent } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { aReceiver, withEvents } from '#test/support/events.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

describe('Deliveries', () => {
  const fleet = useTestFleet(fleetBackend());

  const states = async (): Promise<Record<string, number>> => {
    const rows = await fleet.sql<{ state: string; count: number }[]>`
      select state, count(*)::int as count from event_deliveries group by state`;
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  const addJobs = () => addUrgentJobs(fleet.sql, fleet.producer);

  it('an event is lost neither with the worker nor with the queue, and one job an application sends it', async () => {
    const { received, url } = await aReceiver();
    const { application_id } = await withEvents(fleet.sql, url, 5);
    await Promise.all([addJobs(), addJobs(), addJobs()]);
    const queue = fleet.producer.queue(deliverEvent);
    expect(await queue.getWaitingCount()).toBe(1);
    await fleet.flushQueue();
    const worker = await fleet.startWorker();
    await addJobs();
    await until('all events are delivered', async () => (await states()).delivered === 5);
    await worker.stop(0);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    const [job] = await queue.getJobs();
    expect(job?.data).toEqual({ application_id });
  });

  it('receivers that never answer hold up no other', async () => {
    const COUNT = 25;
    const dead = await aReceiver(() => {});
    const alive = await aReceiver();
    for (let n = 0; n < COUNT; n += 1) {
      await withEvents(fleet.sql, dead.url, 2);
      await withEvents(fleet.sql, alive.url, 2);
    }
    await fleet.startWorker();
    await addJobs();
    await until('every live receiver has its events', () => alive.received.length === 2 * COUNT);
    expect(dead.received.length).toBeLessThanOrEqual(2 * COUNT);
    await until('the deliveries are recorded', async () => (await states()).delivered === 5 + 2 * COUNT);
    // Not one of the silent calls has ended.
    expect((await states()).pending).toBe(2 * COUNT);
    await dead.server.close();
  });
});
