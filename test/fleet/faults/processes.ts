import { type Blocked, type Fault, isDetail, isList, progress, workerAt } from '#test/fleet/faults/fault.ts';
import type { World } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

const killAt = (at: Blocked) => async (world: World) => {
  const worker = await workerAt(world, at);
  const [, other] = await Promise.all([worker.kill(), world.startWorker()]);
  world.first.release();
  return other;
};

/** Kills a worker that has committed, while its word of it is on the way to the queue. */
const killBeforeAcknowledgement =
  (at: Blocked, committed: (world: World) => Promise<boolean>) => async (world: World) => {
    const worker = await workerAt(world, at);
    world.queue.pause();
    world.first.release();
    await until('the worker has committed', () => committed(world));
    await worker.kill();
    world.queue.resume();
    await world.startWorker();
  };

/** Of one application, by the settings of test/support/factories.ts. */
const CALLS_AT_ONCE = 16;
const detailCalls = ({ first }: World): number =>
  [...first.counts.values()].reduce((sum, calls) => sum + calls, 0);

/** What is done to a worker's process. */
export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: 'SIGKILL of a worker during a list call',
    mostCalls: 2,
    inject: async (world) => void (await killAt(isList(1))(world)),
  },
  {
    name: 'SIGKILL of a worker during detail calls',
    mostCalls: 2,
    inject: async (world) => void (await killAt(isDetail)(world)),
  },
  {
    name: 'SIGKILL after the commit of a list page, before its acknowledgement',
    mostCalls: 2,
    inject: killBeforeAcknowledgement(isList(1), async (world) => (await progress(world))?.next_page === 2),
  },
  {
    name: 'SIGKILL after the commit of details, before their acknowledgement',
    mostCalls: 2,
    inject: killBeforeAcknowledgement(isDetail, async (world) => {
      const now = await progress(world);
      return now?.next_page === 2 && now.open === 0;
    }),
  },
  {
    name: 'SIGKILL twice on the same job',
    mostCalls: 3,
    inject: async (world) => {
      const first = await workerAt(world, isDetail);
      await first.kill();
      const asked = detailCalls(world);
      const second = await world.startWorker();
      // Calls of the first may still be on their way in: as many more as a worker makes at once are the second's.
      await until('the second worker asks as well', () => detailCalls(world) >= asked + CALLS_AT_ONCE);
      await second.kill();
      await world.startWorker();
      world.first.release();
    },
  },
  {
    name: 'SIGSTOP for longer than the lock, then SIGCONT',
    mostCalls: 2,
    inject: async (world) => {
      const zombie = await workerAt(world, isDetail);
      zombie.signal('SIGSTOP');
      await world.startWorker();
      // Its calls are answered now: it finds the answers when it wakes.
      world.first.release();
      await world.quiet();
      const versions = () => world.sql`select game_id, xmin::text, ctid::text from games order by game_id`;
      const before = JSON.stringify(await versions());
      const asleep = await world.sql<
        { seen_at: Date }[]
      >`select seen_at from workers where pid = ${zombie.pid}`;
      zombie.signal('SIGCONT');
      // Postgres may have ended its session, and the driver the process with it (porsager/postgres#1208): a
      // supervisor's matter, as any other exit.
      let exited = false;
      zombie.exited.then(() => {
        exited = true;
      });
      await until('the zombie is awake, or has ended', async () => {
        const [row] = await world.sql<{ seen_at: Date }[]>`
          select seen_at from workers where pid = ${zombie.pid}`;
        // It may have been stopped before it was ever seen.
        return exited || (row !== undefined && row.seen_at > (asleep[0]?.seen_at ?? new Date(0)));
      });
      if (!exited) {
        const { code } = await zombie.stop();
        if (code !== 0) throw new Error(`the zombie ended with ${code}`);
      }
      if (JSON.stringify(await versions()) !== before) throw new Error('the zombie has written');
    },
  },
  {
    name: 'SIGTERM with calls in flight that do not end',
    mostCalls: 2,
    inject: async (world) => {
      const worker = await workerAt(world, isDetail);
      await world.startWorker();
      const { code, tookMs } = await worker.stop();
      if (code !== 0 || tookMs > 8_000) throw new Error(`ended with ${code} after ${Math.round(tookMs)} ms`);
      world.first.release();
    },
  },
];
