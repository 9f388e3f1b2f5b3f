import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPage } from '#db/queries/run-pages.ts';
import { raiseFence } from '#db/queries/runs.ts';
import type { FetchedDetails } from '#src/ingest/fetch-details.ts';
import { recordPage } from '#src/ingest/record-page.ts';
import { settleAlong } from '#src/ingest/settle-along.ts';
import { aDetail, addApplication, anOpenRun, fetchedGame, summaryOf } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const IDS = ['g-1', 'g-2', 'g-3', 'g-4'];

/** A run of a new application whose first page waits for four details. */
const aRecordedRun = async () => {
  const application = await addApplication(database.sql, `app-${randomUUID()}`);
  const run = await anOpenRun(database.sql, application.application_id);
  const list = IDS.map((game_id) => summaryOf(aDetail({ game_id })));
  await recordPage(database.sql, { application, run, previous: undefined }, { total: list.length, list }, 10);
  return run;
};

const fetched = (ids: readonly string[], missing: string[] = []): FetchedDetails => ({
  landed: ids.map((game_id) => fetchedGame({ game_id })),
  stored: [],
  missing,
  invalid: [],
  passing: [],
  retryAfterMs: undefined,
});

it('writes down what has come while the rest is still asked for, and counts each game once', async () => {
  const run = await aRecordedRun();
  const openGames = async () => Object.keys((await findPage(database.sql, run.run_id, 1))?.open_games ?? {});
  const settler = settleAlong(database.sql, run, 1, 0);
  const soFar = fetched(['g-1', 'g-2']);
  expect(settler.onAnswer(soFar)).toBe('go on');
  await expect.poll(openGames).toEqual(['g-3', 'g-4']);
  // Only what is not written yet is kept.
  await expect.poll(() => soFar).toMatchObject({ landed: [], stored: ['g-1', 'g-2'] });

  soFar.landed.push(...fetched(['g-3']).landed);
  soFar.missing.push('g-4');
  expect(await settler.finish(soFar, [])).toMatchObject({ open: 0, inserted: 3, missing: 1, unchanged: 0 });
  expect(await openGames()).toEqual([]);
  expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({ inserted: 3, missing: 1, answered: 4 });
});

it('leaves a page that is over soon to one write at its end', async () => {
  const run = await aRecordedRun();
  const settler = settleAlong(database.sql, run, 1, 60_000);
  expect(settler.onAnswer(fetched(['g-1']))).toBe('go on');
  expect(Object.keys((await findPage(database.sql, run.run_id, 1))?.open_games ?? {})).toEqual(IDS);
  expect(await settler.finish(fetched(['g-1']), [])).toMatchObject({ open: 3, inserted: 1 });
});

it('asks for nothing more once the run was taken over, and writes nothing', async () => {
  const run = await aRecordedRun();
  const settler = settleAlong(database.sql, run, 1, 0);
  await raiseFence(database.sql, { ...run, next_page: 2 });
  await expect.poll(() => settler.onAnswer(fetched(['g-1']))).toBe('stop');
  expect(await settler.finish(fetched(['g-1']), [])).toBeUndefined();
  expect(await database.sql`select 1 from games where application_id = ${run.application_id}`).toHaveLength(
    0,
  );
});
