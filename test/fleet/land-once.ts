import { randomBytes } from 'node:crypto';
import type { Snapshot } from '#test/fleet/snapshot.ts';
import { type Ground, openWorld, type WorldOptions } from '#test/fleet/world.ts';
import { asAdmin } from '#test/support/as-admin.ts';
import { cloneClause } from '#test/support/clone-clause.ts';

/**
 * Sync the applications once, undisturbed, and make that the ground others begin on.
 * @returns the ground, and what its tables hold after one more undisturbed run: what every fault is held against
 */
export const landOnce = async (
  ground: Ground,
  options: WorldOptions = {},
): Promise<{ ground: Ground; expected: Snapshot; [Symbol.asyncDispose]: () => Promise<void> }> => {
  const name = `landed_${randomBytes(6).toString('hex')}`;
  {
    // With its queues in the database, so that worlds of either kind can begin there.
    await using world = await openWorld(ground, { ...options, patient: true, queue: 'postgres' });
    const worker = await world.startWorker();
    await world.startRuns();
    await world.quiet();
    await worker.stop();
    await world.queue.flush();
    await world.sql.end();
    const former = new URL(world.databaseUrl).pathname.slice(1);
    await asAdmin(ground.adminUrl, async (sql) =>
      sql.unsafe(`create database ${name} ${await cloneClause(sql, former)}`),
    );
  }
  const template = await asAdmin(ground.adminUrl, (sql) => cloneClause(sql, name));
  const landed = { ...ground, template, landed: true };
  await using world = await openWorld(landed, { ...options, patient: true, queue: 'postgres' });
  await world.startWorker();
  await world.startRuns();
  await world.quiet();
  return {
    ground: landed,
    expected: await world.snapshot(),
    [Symbol.asyncDispose]: async () => {
      await asAdmin(ground.adminUrl, (sql) => sql`drop database ${sql(name)} with (force)`);
    },
  };
};
