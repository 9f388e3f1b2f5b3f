import { describe, expect, test } from 'vitest';
import type { RunRow } from '#db/queries/runs.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  type Answer,
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const detail: Behaviour['detail'] = (id) => ({ data: goodDetail(id) });
const gone: Answer = { data: null };
const list = (ids: readonly string[], total = ids.length): Answer => ({
  data: { total, list: ids.map(goodRow) },
});
const slice = (pageNum: number, pageSize: number, ids: readonly string[]) =>
  ids.slice((pageNum - 1) * pageSize, pageNum * pageSize);
const withdrawn = async ({ sql }: TestFleet): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select application_game_id as id from games where withdrawn_at is not null order by 1`;
  return rows.map(({ id }) => id);
};

/** An application whose list a test changes; its details come from `detailOf`. */
const anApplication = async (fleet: TestFleet, games: number) => {
  const state = {
    ids: idsOf('g', games),
    beforePage: (_pageNum: number): void => {},
    pageOf: (pageNum: number, pageSize: number): Answer =>
      list(slice(pageNum, pageSize, state.ids), state.ids.length),
    detailOf: detail,
  };
  const { calls } = await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) => {
      state.beforePage(pageNum);
      return state.pageOf(pageNum, pageSize);
    },
    detail: (id) => state.detailOf(id),
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: games });
  calls.detail = 0;
  return Object.assign(state, { calls });
};

describe('A list that moves while it is read', () => {
  test.each([
    ['newest first', 3, 'g-0220', (ids: string[]) => ['g-0220', ...ids.filter((id) => id !== 'g-0220')]],
    ['oldest first', 2, 'g-0100', (ids: string[]) => [...ids.filter((id) => id !== 'g-0010'), 'g-0010']],
  ] as const)('(%s, one game is edited) costs no live game', async (_, page, missed, edit) => {
    const fleet = await aFleet();
    const application = await anApplication(fleet, 250);
    let edits = 1;
    application.beforePage = (pageNum) => {
      if (pageNum === page && edits-- > 0) application.ids = edit(application.ids);
    };
    const run = await fleet.sync('acme');
    expect(run).toMatchObject({ outcome: 'partial', listed: page === 3 ? 249 : 250, withdrawn: 0 });
    expect(run.reason).toMatch(/^the listing names 249 of 250 games, 1 are missing/);
    expect(application.calls.detail).toBe(1);
    expect(await withdrawn(fleet)).toEqual([]);
    expect(application.ids).toContain(missed);
    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', withdrawn: 0 });
  });

  test('and loses a game that is gone withdraws it, though its total grows during each listing', async () => {
    const fleet = await aFleet();
    const application = await anApplication(fleet, 250);
    application.ids = application.ids.filter((id) => id !== 'g-0005');
    let added = 0;
    application.beforePage = (pageNum) => {
      if (pageNum === 2) application.ids = [...application.ids, `new-${added++}`];
    };
    const outcomes: Partial<RunRow>[] = [];
    for (let run = 0; run < 3; run += 1) outcomes.push(await fleet.sync('acme'));
    // Its detail still exists: the second complete listing withdraws it.
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['partial', 'partial', 'succeeded']);
    expect(outcomes.map((run) => run.withdrawn)).toEqual([0, 1, 0]);
    expect(await withdrawn(fleet)).toEqual(['g-0005']);
  });
});

test('a game that an application lists twice, and counts twice, makes no run partial; games that are gone are withdrawn', async () => {
  const fleet = await aFleet();
  const application = await anApplication(fleet, 250);
  application.ids = application.ids.toSpliced(230, 0, 'g-0010');
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ outcome: 'succeeded', reason: null });
  expect(run.note).toBe('data.total said 251, the pages named 250; 1 row names a game again');
  application.ids = application.ids.filter((id) => id !== 'g-0005');
  application.detailOf = (id) => (id === 'g-0005' ? gone : detail(id));
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', withdrawn: 1 });
});

test.each([
  ['a short page in the middle', 60, (n: number) => (n === 3 ? 40 : 100)],
  ['empty pages at the end', 200, (n: number) => (n > 3 ? 0 : 100)],
])(
  '%s: the run is partial, says how many games are missing, and withdraws only what null confirms',
  async (_, missing, rowsOf) => {
    const fleet = await aFleet();
    const application = await anApplication(fleet, 500);
    application.pageOf = (pageNum, pageSize) =>
      list(slice(pageNum, pageSize, application.ids).slice(0, rowsOf(pageNum)), 500);
    const first = await fleet.sync('acme');
    expect(first).toMatchObject({ outcome: 'partial', listed: 500 - missing, withdrawn: 0 });
    expect(first.reason).toBe(`the listing names ${500 - missing} of 500 games, ${missing} are missing`);
    application.detailOf = (id) => (id === 'g-0299' || id === 'g-0499' ? gone : detail(id));
    const second = await fleet.sync('acme');
    expect(second).toMatchObject({ outcome: 'partial', withdrawn: 1, missing: 0, unchanged: 500 - missing });
    expect(await withdrawn(fleet)).toHaveLength(1);
  },
);

test('unlisted games: null withdraws at once, other responses and failures wait for the second complete listing', async () => {
  const fleet = await aFleet();
  const application = await anApplication(fleet, 250);
  application.ids = application.ids.slice(6);
  application.detailOf = (id) =>
    id === 'g-0000' ? gone : id === 'g-0001' ? raw('oops', 500) : id === 'g-0002' ? raw('', 404) : detail(id);
  const first = await fleet.sync('acme');
  expect(first).toMatchObject({ outcome: 'partial', listed: 244, unchanged: 244, withdrawn: 1, failed: 0 });
  expect(first.reason).toBe('5 games that the listing does not name still exist or could not be checked');
  expect(await withdrawn(fleet)).toEqual(['g-0000']);
  expect(await fleet.sql`select from ingest_failures`).toHaveLength(0);

  // A page names one of them again: its mark is gone.
  application.ids = ['g-0005', ...application.ids];
  application.calls.detail = 0;
  const second = await fleet.sync('acme');
  expect(second).toMatchObject({ outcome: 'partial', withdrawn: 4 });
  expect(second.reason).toBe('withdrew 4 games that two listings in a row did not name');
  expect(application.calls.detail).toBe(0);
  application.ids = application.ids.slice(1);
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', withdrawn: 0 });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', withdrawn: 1 });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', withdrawn: 0 });
});

describe('The verification of unlisted games', () => {
  test('goes page by page at 100 games each, and continues after its queue was lost', async () => {
    const fleet = await aFleet();
    const application = await anApplication(fleet, 500);
    application.ids = application.ids.slice(250);
    let flush = true;
    application.detailOf = (id) => {
      if (id < 'g-0150' && flush) return raw('later', 503, { 'retry-after': '600' });
      return gone;
    };
    const run = await fleet.startRun('acme');
    const [list, details] = ['query-game-list', 'query-game-detail'].map((name) =>
      fleet.producer.queue({ name }),
    );
    await until('the details wait', async () => ((await details?.getDelayedCount()) ?? 0) > 0);
    const before = (await withdrawn(fleet)).length;
    expect(before).toBeLessThan(250);
    await fleet.flushQueue();
    flush = false;
    await fleet.sql`update sync_runs set progress_at = now() - interval '1 minute' where finished_at is null`;
    await recoverRuns(fleet.sql, fleet.producer, new AbortController().signal, {
      idleMs: 0,
      abandonMs: 600_000,
    });
    const ended = await fleet.ended(run.run_id);
    expect(ended).toMatchObject({
      outcome: 'succeeded',
      listed: 250,
      unchanged: 250,
      withdrawn: 250,
      missing: 0,
    });
    expect(ended.fence).toBe(2);
    expect(
      await fleet.sql`
      select from sync_run_pages where application_game_ids <> '{}' or open_games <> '{}'::jsonb`,
    ).toHaveLength(0);
    expect(await list?.getFailedCount()).toBe(0);
  });
});
