import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { SCHEDULES } from '#src/contract/words.ts';
import { schedulerId, tickOffset } from '#src/rules/ticks.ts';
import type { QueueKind } from '#test/fleet/faults.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { openWorld } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

const CLOCK = fileURLToPath(new URL('./wrong-clock.ts', import.meta.url));
const MINUTE_MS = 60_000;

const open = new AsyncDisposableStack();
afterAll(() => open.disposeAsync());

/** An interval in which neither schedule of these applications ticks during the test. */
const chooseInterval = (application_ids: readonly string[]): number => {
  const ids = application_ids.flatMap((id) => SCHEDULES.map((schedule) => schedulerId(schedule, id)));
  for (let every = 15 * MINUTE_MS; ; every += MINUTE_MS) {
    const isQuiet = ids.every((id) => {
      const sinceSlot = (Date.now() - tickOffset(id, every)) % every;
      return every - sinceSlot > 3 * MINUTE_MS;
    });
    if (isQuiet) return every;
  }
};

test.for<QueueKind>(['redis', 'postgres'])(
  'a worker whose clock is an hour ahead opens no run and pulls no record before its time, with the queue in %s',
  async (queue, context) => {
    if (queue === 'redis' && withoutRedis('a wrong clock')) return context.skip();
    const world = open.use(await openWorld(sharedGround(), { queue, applications: 2, games: 5 }));
    const every = chooseInterval(world.applications.map(({ application_id }) => application_id));
    await world.sql`update applications set every_ms = ${every}, kyc_every_ms = ${every}`;
    const ahead = await world.startWorker({ preload: `${CLOCK}?1` });
    const right = await world.startWorker();
    await until('the schedules are set', () => right.log().includes('"set":4'));
    // The right worker has looked at them several times, and has done a run of each application.
    for (let run = 1; run <= 3; run += 1) {
      await world.startRuns();
      await world.quiet();
    }
    // The reading of the clock of Postgres may take a second on a busy machine.
    expect(ahead.log()).toMatch(/no job is taken: the clock of this machine is 3(599|60[01]) s ahead of/);
    const [row] = await world.sql`
      select count(*) filter (where trigger = 'schedule')::int as scheduled, count(*)::int as runs,
             (select count(*)::int from kyc_states) as records
      from sync_runs`;
    expect(row).toEqual({ scheduled: 0, runs: 6, records: 0 });
    expect(world.crashes()).toBe(0);
    await ahead.kill();
    await right.kill();
  },
);
