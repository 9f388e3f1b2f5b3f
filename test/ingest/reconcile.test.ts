import { pino } from 'pino';
import { expect, it } from 'vitest';
import { findRun } from '#db/queries/runs.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { repeatUntilAborted } from '#src/roles/repeat.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';

const silent = pino({ level: 'silent' });
const live = new AbortController().signal;

onBothBackends('Reconcilers', (kind) => {
  it('of many workers at once set each schedule once and recover a lost run once', async () => {
    const fleet = await startTestFleet(kind);
    try {
      await addApplication(fleet.sql, 'acme');
      // A run whose job was lost before it reached the queue.
      const { run_id } = await anOpenRun(fleet.sql, 'acme');
      await fleet.sql`update sync_runs set progress_at = now() - interval '1 minute'`;
      const surroundings = { ...fleet, logger: silent };
      await Promise.all(Array.from({ length: 4 }, () => reconcile(surroundings, live)));
      expect(await findRun(fleet.sql, run_id)).toMatchObject({ fence: 2, finished_at: null });
      const schedulers = await fleet.producer.queue(tick).getJobSchedulers(0, -1, true);
      expect(schedulers.map(({ key }) => key).sort()).toEqual(['games.acme', 'kyc.acme']);
      expect(await fleet.producer.queue(tick).getDelayedCount()).toBe(2);
      expect(await fleet.producer.queue(prune).getDelayedCount()).toBe(1);

      await fleet.startWorker();
      const ended = await fleet.ended(run_id);
      // Nobody listens at its address: what matters is that somebody asked.
      expect(ended).toMatchObject({ outcome: 'failed', fence: 2 });
    } finally {
      await fleet.stop();
    }
  });
});

it('goes on with a chore that failed, and ends when it is aborted', async () => {
  const aborter = new AbortController();
  let done = 0;
  await repeatUntilAborted(1, aborter.signal, silent, 'chore', async () => {
    done += 1;
    if (done === 3) aborter.abort();
    throw new Error('not this time');
  });
  expect(done).toBe(3);
});

it('ends a chore that waits for something that never comes, when it is aborted', async () => {
  const aborter = new AbortController();
  const ended = repeatUntilAborted(1, aborter.signal, silent, 'chore', () => new Promise(() => {}));
  aborter.abort();
  await ended;
});
