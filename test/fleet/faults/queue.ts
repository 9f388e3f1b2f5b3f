import { stepId } from '#src/ingest/steps.ts';
import { type Fault, progress, twoWorkers, underWay } from '#test/fleet/faults/fault.ts';

/** What becomes of the jobs, and of fleets that meet. */
export const QUEUE_FAULTS: readonly Fault[] = [
  {
    name: 'the queue flushed',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world);
      await world.queue.flush();
    },
  },
  {
    name: 'three workers start at once on a flushed queue',
    mostCalls: 2,
    inject: async (world) => {
      await world.startRuns();
      await world.queue.flush();
      await Promise.all([world.startWorker(), world.startWorker(), world.startWorker()]);
    },
  },
  {
    name: "a job whose payload this version can't read",
    mostCalls: 2,
    inject: async (world) => {
      await world.startRuns();
      const run = await progress(world);
      if (run === undefined) throw new Error('the run is open');
      const id = stepId(run, 1);
      await world.queue.rewrite('query-game-list', id, { run_id: run.run_id });
      await world.startWorker();
    },
  },
  {
    name: 'a deploy: every worker replaced in the middle of its work, by a version that knows less of their jobs',
    mostCalls: 3,
    inject: async (world) => {
      await world.startRuns();
      const run = await progress(world);
      if (run === undefined) throw new Error('the run is open');
      const { run_id, fence } = run;
      const payload = { application_id: 'app-0', run_id, fence, page_num: 1, of_another_version: true };
      await world.queue.rewrite('query-game-list', stepId(run, 1), payload);
      const old = await Promise.all([world.startWorker(), world.startWorker()]);
      await underWay(world);
      for (const worker of old) {
        await world.startWorker();
        const { code } = await worker.stop();
        if (code !== 0) throw new Error(`a worker that was replaced ended with ${code}`);
      }
    },
  },
];
