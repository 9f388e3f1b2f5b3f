import { expect, test } from 'vitest';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';

onBothBackends('an application with many games', (kind) => {
  test('does not delay one with ten: it is done while the other has hardly begun', async () => {
    const fleet = await startTestFleet(kind);
    const concurrency = queryGameDetail.options.concurrency;
    try {
      // One detail job at a time in the whole fleet: jobs run in the order in which they came.
      queryGameDetail.options.concurrency = 1;
      const many = 30 * 100;
      await fleet.addApplication('large', many);
      await fleet.addApplication('small', 10);
      await fleet.startWorker();
      const large = await fleet.startRun('large');
      const small = await fleet.ended((await fleet.startRun('small')).run_id);
      expect(small).toMatchObject({ outcome: 'succeeded', inserted: 10 });
      const [landed] = await fleet.sql<{ count: number }[]>`
        select count(*)::int as count from games where application_id = 'large' and created_at < ${small.finished_at}`;
      expect(landed?.count).toBeLessThan(many / 5);
      expect(await fleet.ended(large.run_id)).toMatchObject({ outcome: 'succeeded', inserted: many });
    } finally {
      queryGameDetail.options.concurrency = concurrency;
      await fleet.stop();
    }
  });
});
