import type { Fault } from '#test/fleet/faults/fault.ts';
import { scheduled } from '#test/fleet/schedules.ts';
import { differences, type Snapshot } from '#test/fleet/snapshot.ts';
import { type Ground, openWorld, type World } from '#test/fleet/world.ts';
import { followStream } from '#test/stream/follow.ts';

export type Survived = { rows: number; calls: number; tookMs: number };

/** Applications that the fleet has paused, or whose schedule backs off: no fault here is an application's. */
const findBlamed = async ({ sql }: World): Promise<string[]> => {
  const rows = await sql<{ application_id: string; status: string; failed_runs: number }[]>`
    select application_id, status, failed_runs from applications
    where status <> 'active' or failed_runs > 0 or next_attempt_at is not null`;
  return rows.map((row) => `${row.application_id} is ${row.status}, with ${row.failed_runs} failed runs`);
};

/**
 * Let one fault happen to a world of its own and wait until all is quiet.
 * @throws when a row differs from an undisturbed run's, a copy made from the stream differs, something was requested too
 *   often, a schedule is silent, a worker ended by itself, or an application is paused or backs off
 */
export const survive = async (fault: Fault, ground: Ground, expected: Snapshot): Promise<Survived> => {
  const from = performance.now();
  await using world = await openWorld(ground, fault.world);
  await using follower = followStream(world.sql);
  try {
    await fault.inject(world);
    await world.quiet();
    await scheduled(world);
    const actual = await world.snapshot();
    const wrong = await (fault.findWrong?.(world, expected) ?? differences(expected, actual));
    if (wrong.length > 0) throw new Error(`the tables differ:\n${wrong.join('\n')}`);
    const lost = await follower.findDifferences();
    if (lost.length > 0) throw new Error(`a copy made from the stream differs:\n${lost.join('\n')}`);
    const blamed = await findBlamed(world);
    if (blamed.length > 0) throw new Error(blamed.join('\n'));
    if (world.crashes() > 0) throw new Error(`${world.crashes()} workers ended by themselves`);
    const { key, count } = world.mostCalls();
    if (count > fault.mostCalls) throw new Error(`${key} was requested ${count} times`);
    return { rows: actual.rows, calls: count, tookMs: performance.now() - from };
  } catch (error) {
    const logs = world.workers.map((worker) => `worker ${worker.pid}:\n${worker.log().slice(-3_000)}`);
    logs.push(`Postgres:\n${ground.postgresLog?.().slice(-3_000) ?? 'its log is not kept'}`);
    const jobs = JSON.stringify(await world.queue.describe().catch(() => 'no answer'));
    const what = `${fault.name} (queue: ${world.queue.kind}): ${(error as Error).message}`;
    throw new Error(`${what}\njobs: ${jobs}\n${logs.join('\n')}`, { cause: error });
  }
};
