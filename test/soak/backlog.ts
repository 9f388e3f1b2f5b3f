// How fast a backlog of ticks drains, with the reconciler and without: node test/soak/backlog.ts [applications] [redis|postgres]
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCKS } from '#db/locks.ts';
import { addBacklog, countOverdue } from '#test/fleet/backlog.ts';
import { openWorld } from '#test/fleet/world.ts';
import { startGround } from '#test/soak/ground.ts';

const count = Number(process.argv[2] ?? 40_000);
const queue = process.argv[3] === 'postgres' ? 'postgres' : 'redis';
const SAMPLE_MS = 10_000;

await using stack = new AsyncDisposableStack();
const ground = await startGround(stack);

/** Drain one backlog by two workers, and print its rate every ten seconds. */
const drain = async (withReconciler: boolean): Promise<void> => {
  await using world = await openWorld(ground, { applications: 1, games: 0, queue });
  await addBacklog(world, count);
  // A worker that does not get the reconciler's lock does not reconcile.
  const session = await world.sql.reserve();
  if (!withReconciler) await session`select pg_advisory_lock(${LOCKS.reconcile})`;
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  await Promise.all([world.startWorker(), world.startWorker()]);
  const of = withReconciler ? 'with the reconciler' : 'without it';
  let [left, at] = [await countOverdue(world), seconds()];
  const all = left;
  const from = at;
  while (left > 0) {
    await sleep(SAMPLE_MS);
    const [now, then] = [await countOverdue(world), seconds()];
    process.stdout.write(`${of}: ${Math.round((left - now) / (then - at))} runs a second, ${now} overdue\n`);
    [left, at] = [now, then];
  }
  process.stdout.write(
    `${queue}, ${of}: ${all} runs in ${(at - from).toFixed(0)} s, ${Math.round(all / (at - from))} a second; ` +
      `${world.crashes()} workers ended by themselves\n`,
  );
  session.release();
};

await drain(true);
await drain(false);
