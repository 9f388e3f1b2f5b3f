import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRunHours } from '#src/console/run-hours.ts';
import type { RunOutcome } from '#src/contract/words.ts';
import { applicationList } from '#src/lists/applications.ts';
import { addApplication } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(async () => {
  for (const id of ['acme', 'other']) await addApplication(database.sql, id);
});
beforeEach(() => database.sql`truncate sync_runs cascade`);

const endRun = async (outcome: RunOutcome, { application_id = 'acme', hoursAgo = 0, inserted = 1 } = {}) => {
  await database.sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, reason, inserted, started_at, finished_at)
    values (${randomUUIDv7()}, ${application_id}, 'schedule', ${outcome}, ${`why ${outcome}`}, ${inserted}, now(),
            date_trunc('hour', now()) - ${hoursAgo} * interval '1 hour')`;
};

// The hour may turn during a test.
describe('The runs by hour', { retry: 1 }, () => {
  it('cover 24 hours, the present one last, with games and outcomes', async () => {
    await endRun('succeeded', { hoursAgo: 23, inserted: 7 });
    await endRun('failed', { hoursAgo: 24 });
    await endRun('partial', { inserted: 2 });
    await endRun('suspect', { inserted: 3 });
    const hours = await createRunHours(database.sql)();
    expect(hours).toHaveLength(24);
    expect(hours[0]).toMatchObject({ landed: 7, succeeded: 1, failed: 0 });
    expect(hours[23]).toMatchObject({ landed: 5, partial: 1, suspect: 1 });
    const starts = hours.map(({ hour }) => hour.getTime());
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it('that have ended are read once, the present one again', async () => {
    const read = createRunHours(database.sql, -1);
    await endRun('succeeded', { hoursAgo: 5 });
    const before = await read();
    await endRun('succeeded', { hoursAgo: 5 });
    await endRun('succeeded');
    const after = await read();
    expect(after.slice(0, 22)).toEqual(before.slice(0, 22));
    expect(after[18]).toMatchObject({ succeeded: 1 });
    expect(after[23]?.succeeded).toBe((before[23]?.succeeded ?? 0) + 1);
    expect(after).toHaveLength(24);
  });

  it('are read again after the clock was set back', async () => {
    const read = createRunHours(database.sql, 0);
    const before = await read();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await read()).not.toBe(before);
  });

  it('are one read for calls that arrive together, and a failed read is repeated', async () => {
    const read = createRunHours(database.sql);
    const [one, two] = await Promise.all([read(), read()]);
    expect(one).toBe(two);
    await database.sql`alter table sync_runs rename to renamed`;
    const failing = createRunHours(database.sql);
    await expect(failing()).rejects.toThrow('sync_runs');
    await database.sql`alter table renamed rename to sync_runs`;
    expect(await failing()).toHaveLength(24);
  });
});

it('an application is in trouble while its last run is suspect, and not after the next one', async () => {
  const trouble = async () => {
    const { rows } = await readPage(database.sql, applicationList, { status: 'trouble' }, { limit: 10 });
    return rows.map(({ application_id }) => application_id);
  };
  await endRun('succeeded');
  expect(await trouble()).toEqual([]);
  await endRun('suspect');
  await endRun('suspect', { application_id: 'other', hoursAgo: 40 });
  await endRun('abandoned');
  expect(await trouble()).toEqual(['acme', 'other']);
  const { rows } = await readPage(database.sql, applicationList, {}, { limit: 10 });
  const states = rows.map((row) => applicationList.columns.find(({ key }) => key === 'status')?.value(row));
  expect(states, 'of every list').toEqual(['suspect', 'suspect']);
  expect(rows.map(({ suspect_reason }) => suspect_reason)).toEqual(['why suspect', 'why suspect']);
  await endRun('partial');
  expect(await trouble()).toEqual(['other']);
});
