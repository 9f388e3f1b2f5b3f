import type { Fault } from '#test/fleet/faults/fault.ts';
import { differences, type Snapshot } from '#test/fleet/snapshot.ts';
import { type Ground, openWorld } from '#test/fleet/world.ts';

export type Survived = { rows: number; calls: number; tookMs: number };

/**
 * Let one fault happen to a world of its own and wait until all is quiet.
 * @throws when a row differs from an undisturbed run's, something was requested too often, or a schedule is silent
 */
export const survive = async (fault: Fault, ground: Ground, expected: Snapshot): Promise<Survived> => {
  const from = performance.now();
  await using world = await openWorld(ground, fault.world);
  try {
    await fault.inject(world);
    await world.quiet();
    await world.scheduled();
    const actual = await world.snapshot();
    const different = differences(expected, actual);
    if (different.length > 0) throw new Error(`the tables differ:\n${different.join('\n')}`);
    const { key, count } = world.mostCalls();
    if (count > fault.mostCalls) throw new Error(`${key} was requested ${count} times`);
    return { rows: actual.rows, calls: count, tookMs: performance.now() - from };
  } catch (error) {
    const logs = world.workers.map((worker) => `worker ${worker.pid}:\n${worker.log().slice(-3_000)}`);
    const jobs = JSON.stringify(await world.queue.describe().catch(() => 'no answer'));
    const what = `${fault.name} (queue: ${world.queue.kind}): ${(error as Error).message}`;
    throw new Error(`${what}\njobs: ${jobs}\n${logs.join('\n')}`, { cause: error });
  }
};
