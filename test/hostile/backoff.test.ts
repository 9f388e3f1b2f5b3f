import { describe, expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import { findOpenRun, type RunRow } from '#db/queries/runs.ts';
import { tick } from '#src/ingest/specs.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  aFleet,
  type Behaviour,
  idsOf,
  raw,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const down: Behaviour = { list: () => raw('down', 502), detail: () => raw('down', 502) };

/** Let the schedule's moment come: what the tick's job answered. */
const tickOnce = async ({ producer }: TestFleet): Promise<Record<string, unknown>> => {
  const { id } = await producer.add(tick, { application_id: 'acme', schedule: 'games' as const });
  return until('the tick ends', async () => {
    // What a job returned is there a moment after what it was fetched with.
    const job = await producer.queue(tick).getJob(id ?? '');
    return job?.finishedOn === undefined ? undefined : job.returnvalue;
  });
};
const scheduledRun = async (fleet: TestFleet): Promise<RunRow> => {
  const { run_id } = await tickOnce(fleet);
  return fleet.ended(String(run_id));
};
const acme = async ({ sql }: TestFleet) => {
  const row = await findApplication(sql, 'acme');
  if (row === undefined) throw new Error('acme is gone');
  return row;
};
/** Moves the run's moments this far into the past. */
const passTime = ({ sql }: TestFleet, ms: number) => sql`
  update applications set next_attempt_at = next_attempt_at - ${ms} * interval '1 millisecond',
                          failing_since = failing_since - ${ms} * interval '1 millisecond'`;

describe('an application that fails', () => {
  test('is called half as often after each failure, by one run at the named moment, and at the normal interval again once it responds', async () => {
    const fleet = await aFleet();
    const application = await startHostileApplication(fleet, 'acme', down, { every_ms: HOUR_MS });
    const first = await scheduledRun(fleet);
    expect(first).toMatchObject({ outcome: 'failed', reason: 'page 1: http_status HTTP 502' });
    expect(await acme(fleet)).toMatchObject({
      failed_runs: 1,
      failing_since: first.started_at,
      status: 'active',
    });

    await passTime(fleet, HOUR_MS);
    const second = await scheduledRun(fleet);
    const next = (await acme(fleet)).next_attempt_at;
    expect(next?.getTime()).toBe(second.started_at.getTime() + 2 * HOUR_MS);

    const { calls } = application;
    const before = calls.list;
    await passTime(fleet, HOUR_MS);
    expect(await tickOnce(fleet)).toMatchObject({ skipped: 'backing off after failures' });
    expect([calls.list, await findOpenRun(fleet.sql, 'acme')]).toEqual([before, undefined]);

    await passTime(fleet, HOUR_MS);
    application.behaviour = wellBehaved(idsOf('g', 3));
    expect(await scheduledRun(fleet)).toMatchObject({ outcome: 'succeeded', inserted: 3 });
    expect(await acme(fleet)).toMatchObject({ failed_runs: 0, failing_since: null, next_attempt_at: null });
  });
});

test('an application that fails for days is paused and says why; a run by hand that succeeds ends the pause', async () => {
  const fleet = await aFleet();
  const application = await startHostileApplication(fleet, 'acme', down, { every_ms: HOUR_MS });
  await scheduledRun(fleet);
  // Nine failed runs are behind it, over more than three days.
  await fleet.sql`update applications set failed_runs = 9, next_attempt_at = now()`;
  await passTime(fleet, 3 * DAY_MS);
  await scheduledRun(fleet);
  const paused = await acme(fleet);
  expect(paused).toMatchObject({ status: 'paused', failed_runs: 10, next_attempt_at: null });
  expect(paused.pause_reason).toMatch(
    /^10 runs in a row failed since \d{4}-\d\d-\d\d \d\d:\d\d UTC, the last with: page 1: http_status HTTP 502$/,
  );
  expect(await tickOnce(fleet)).toEqual({ skipped: 'not active' });

  // Trying by hand while it is still down neither counts nor resumes it.
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'failed' });
  expect(await acme(fleet)).toMatchObject({ status: 'paused', failed_runs: 10 });
  application.behaviour = wellBehaved(idsOf('g', 3));
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded' });
  expect(await acme(fleet)).toMatchObject({ status: 'active', failed_runs: 0, pause_reason: null });
});

test('an application that goes down in the middle does not get a hundred calls', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 100);
  const application = await startHostileApplication(
    fleet,
    'acme',
    { ...wellBehaved(ids), detail: down.detail },
    { concurrency: 8 },
  );
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', failed: 100 });
  // Four attempts; each stops after eight failures, with at most seven more on their way.
  expect(application.calls.detail).toBeLessThanOrEqual(4 * 15);
});
