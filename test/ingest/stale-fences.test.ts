import { describe, expect, it } from 'vitest';
import { type RunFence, raiseFence } from '#db/queries/runs.ts';
import { failRun, finishRun } from '#src/ingest/finish-run.ts';
import { batchOf, type Outcome, page, useRecordedRuns } from '#test/ingest/recorded-runs.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { runEndings } from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';
import { everyRow } from '#test/support/stored.ts';

const { database, aRecordedRun, write } = useRecordedRuns();

describe('A job with a stale fence', () => {
  const batch = batchOf(
    new Map<string, Outcome>([
      ['g-1', 'fetched'],
      ['g-2', 'missing'],
      ['g-3', 'invalid'],
      ['g-4', 'not retried'],
    ]),
  );

  it.for<[how: string, lose: (fence: RunFence) => Promise<unknown>]>([
    ['because the fence was raised', (fence) => raiseFence(database.sql, { ...fence, next_page: 2 })],
    ['because the run was closed', (fence) => failRun(runEndings(database.sql), fence, 'down', 'none')],
  ])('writes nothing anywhere: %s', async ([, lose]) => {
    const { run, application } = await aRecordedRun();
    await lose(run);
    const before = await everyRow(database.sql);
    const moved = { ...run, next_page: 2 };
    expect(
      await recordPage(database.sql, { application, run: moved, previous: undefined }, page(['x-1']), 10),
    ).toBeUndefined();
    expect(await write(run, batch)).toBeUndefined();
    expect(await finishRun(runEndings(database.sql), run)).toBeUndefined();
    expect(await failRun(runEndings(database.sql), run, 'late', 'application')).toBeUndefined();
    expect(await everyRow(database.sql)).toEqual(before);
  });

  it('writes nothing either when the fence is raised while it waits for the lock', async () => {
    const { run } = await aRecordedRun();
    const before = await everyRow(database.sql);
    const { late } = await database.sql.begin(async (tx) => {
      await raiseFence(tx, { ...run, next_page: 2 });
      const waiting = write(run, batch);
      await untilBlocked(database.sql);
      return { late: waiting };
    });
    expect(await late).toBeUndefined();
    const after = await everyRow(database.sql);
    expect({ ...after, sync_runs: [] }).toEqual({ ...before, sync_runs: [] });
  });
});
