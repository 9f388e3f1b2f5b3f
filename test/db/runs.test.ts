import { randomUUIDv7 } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clearFailures, listFailedGameIds, recordFailures } from '#db/queries/failures.ts';
import { findPage, sumPages } from '#db/queries/run-pages.ts';
import { findRunStep } from '#db/queries/run-steps.ts';
import { closeRun, findOpenRun, findRun, listIdleRuns, raiseFence } from '#db/queries/runs.ts';
import { openRun } from '#src/ingest/steps.ts';
import { aDetail, addApplication, anOpenRun, summaryOf } from '#test/support/factories.ts';
import { removeApplication } from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** An application that no other test has. */
const ownApplication = () => addApplication(database.sql, `app-${randomUUIDv7()}`);

describe('Opening a run', () => {
  const newRun = (application_id: string) => ({
    run_id: randomUUIDv7(),
    application_id,
    trigger: 'manual' as const,
    full: false,
    accept_withdrawals: false,
  });

  it('gives one run to any number of concurrent callers, and each learns which', async () => {
    const { application_id } = await ownApplication();
    const asked = Array.from({ length: 12 }, () => openRun(database.sql, newRun(application_id)));
    const answers = await Promise.all(asked);
    expect(answers.filter(({ opened }) => opened)).toHaveLength(1);
    expect(new Set(answers.map(({ run }) => run.run_id)).size).toBe(1);
  });

  it('opens a new one once the former has ended, also while others end and open', async () => {
    const { application_id } = await ownApplication();
    const closeOpen = async () => {
      const open = await findOpenRun(database.sql, application_id);
      if (open) await closeRun(database.sql, open, { outcome: 'succeeded', reason: null });
    };
    const asked = Array.from({ length: 20 }, async () => {
      const { opened } = await openRun(database.sql, newRun(application_id));
      await closeOpen();
      return opened;
    });
    const opened = (await Promise.all(asked)).filter(Boolean).length;
    const [row] = await database.sql<{ runs: number; open: number }[]>`
      select count(*)::int as runs, (count(*) filter (where finished_at is null))::int as open
      from sync_runs where application_id = ${application_id}`;
    expect(row).toEqual({ runs: opened, open: 0 });
  });

  it('of two applications gives a run to each', async () => {
    const [a, b] = [await ownApplication(), await ownApplication()];
    const runs = await Promise.all([a, b].map((each) => openRun(database.sql, newRun(each.application_id))));
    expect(runs.every(({ opened }) => opened)).toBe(true);
  });
});

describe('A fence', () => {
  it('is stale once it was raised, which one of many can do', async () => {
    const run = await anOpenRun(database.sql, (await ownApplication()).application_id);
    const taken = await Promise.all(Array.from({ length: 8 }, () => raiseFence(database.sql, run)));
    const [winner, ...others] = taken.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    expect(winner).toMatchObject({ run_id: run.run_id, fence: run.fence + 1 });
    expect(await findRunStep(database.sql, run, 1)).toBeUndefined();
    expect(await findRunStep(database.sql, { run_id: run.run_id, fence: run.fence + 1 }, 1)).toBeDefined();
  });

  it('is not raised when the run has moved on', async () => {
    const application = await ownApplication();
    const run = await anOpenRun(database.sql, application.application_id);
    const list = [summaryOf(aDetail({ game_id: 'g-1' }))];
    await recordPage(database.sql, { application, run, previous: undefined }, { total: 1, list }, 10);
    expect(await raiseFence(database.sql, run)).toBeUndefined();
    expect(await findRunStep(database.sql, run, 1)).toBeDefined();
  });

  it('finds the run, its application without a token in the run, the page, and the time', async () => {
    const application = await ownApplication();
    const run = await anOpenRun(database.sql, application.application_id);
    const list = [summaryOf(aDetail({ game_id: 'g-1' }))];
    await recordPage(database.sql, { application, run, previous: undefined }, { total: 1, list }, 10);

    const step = await findRunStep(database.sql, run, 1);
    expect(step?.run).toEqual({ ...(await findRun(database.sql, run.run_id)) });
    const { created_at: _created, updated_at: _updated, ...columns } = application;
    expect(step?.application).toMatchObject(columns);
    const { listed_at: _, ...page } = (await findPage(database.sql, run.run_id, 1)) ?? { listed_at: null };
    expect(step?.page).toEqual(page);
    expect(Math.abs((step?.clock().getTime() ?? 0) - Date.now())).toBeLessThan(60_000);

    expect(await findRunStep(database.sql, run, 2)).toMatchObject({ page: undefined });
    await removeApplication(database.sql, application.application_id);
    expect(await findRunStep(database.sql, run, 1)).toBeUndefined();
  });

  it('ends when the run is closed, which happens once', async () => {
    const run = await anOpenRun(database.sql, (await ownApplication()).application_id);
    const verdict = { outcome: 'failed', reason: 'down' } as const;
    const closed = await Promise.all([1, 2, 3].map(() => closeRun(database.sql, run, verdict)));
    expect(closed.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await findRunStep(database.sql, run, 1)).toBeUndefined();
    expect(await raiseFence(database.sql, run)).toBeUndefined();
  });

  it('shows as idle once it has not moved for a while', async () => {
    const run = await anOpenRun(database.sql, (await ownApplication()).application_id);
    const isIdle = async (idleMs: number) =>
      (await listIdleRuns(database.sql, idleMs, 500)).some(({ run_id }) => run_id === run.run_id);
    expect(await isIdle(60_000)).toBe(false);
    await database.sql`update sync_runs set progress_at = now() - interval '2 minutes' where run_id = ${run.run_id}`;
    expect(await isIdle(60_000)).toBe(true);
    await closeRun(database.sql, run, { outcome: 'failed', reason: null });
    expect(await isIdle(60_000)).toBe(false);
  });
});

describe('Failures', () => {
  const failure = (id: string, kind = 'timeout') => ({
    application_game_id: id,
    kind,
    reasons: [{ path: '', code: kind }],
  });

  it('open a row once and count up after that, with the last word of each', async () => {
    const { application_id } = await ownApplication();
    const record = (...kinds: string[]) =>
      recordFailures(
        database.sql,
        application_id,
        'query_game_detail',
        kinds.map((kind) => failure('g-1', kind)),
      );
    await record('timeout');
    const [first] = await listFailures(database.sql, { application_id, limit: 10 });
    await record('connect_failed', 'http_status');
    const rows = await listFailures(database.sql, { application_id, limit: 10 });
    expect(rows).toMatchObject([
      {
        kind: 'http_status',
        reasons: [{ path: '', code: 'http_status' }],
        count: 2,
        first_at: first?.first_at,
      },
    ]);
    expect(rows[0]?.last_at.getTime()).toBeGreaterThan(first?.first_at.getTime() ?? 0);
  });

  it('are cleared for the games that landed, of that operation and application alone', async () => {
    const [mine, other] = [await ownApplication(), await ownApplication()];
    for (const { application_id } of [mine, other])
      for (const operation of ['query_game_list', 'query_game_detail'] as const)
        await recordFailures(database.sql, application_id, operation, [failure('a'), failure('b')]);
    await clearFailures(database.sql, mine.application_id, 'query_game_detail', ['a', 'not there']);
    await clearFailures(database.sql, mine.application_id, 'query_game_list', []);
    const left = async (application_id: string) =>
      (await listFailures(database.sql, { application_id, limit: 10 }))
        .map((row) => `${row.operation} ${row.application_game_id}`)
        .sort();
    expect(await left(mine.application_id)).toEqual([
      'query_game_detail b',
      'query_game_list a',
      'query_game_list b',
    ]);
    expect(await left(other.application_id)).toHaveLength(4);
  });

  it('name each game to retry once, and not what belongs to no game or to KYC', async () => {
    const { application_id } = await ownApplication();
    await recordFailures(database.sql, application_id, 'query_game_list', [failure(''), failure('b')]);
    await recordFailures(database.sql, application_id, 'query_game_detail', [failure('b'), failure('a')]);
    await recordFailures(database.sql, application_id, 'query_cp_kyc', [failure('c')]);
    expect(await listFailedGameIds(database.sql, application_id)).toEqual(['a', 'b']);
  });

  it('of names such as __proto__ are kept like any other', async () => {
    const { application_id } = await ownApplication();
    await recordFailures(database.sql, application_id, 'query_game_detail', [
      failure('__proto__'),
      failure("';--"),
    ]);
    expect(await listFailedGameIds(database.sql, application_id)).toEqual(["';--", '__proto__']);
  });
});

it('sums what the pages of an open run have counted so far', async () => {
  const application = await ownApplication();
  const run = await anOpenRun(database.sql, application.application_id);
  expect(await sumPages(database.sql, run.run_id)).toEqual({ listed: 0, written: 0, total: 0 });
  const rows = ['a', 'b', null].map((game_id) => summaryOf(aDetail({ game_id: game_id as string })));
  await recordPage(database.sql, { application, run, previous: undefined }, { total: 9, list: rows }, 10);
  expect(await sumPages(database.sql, run.run_id)).toEqual({ listed: 3, written: 1, total: 9 });
});
