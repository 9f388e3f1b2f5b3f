import { describe, expect, test } from 'vitest';
import { hasWaitingGames, requestGames } from '#db/queries/refreshes.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  type Answer,
  aFleet,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
} from '#test/support/hostile-application.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 60 * 60_000;
const IDS = idsOf('g', 20);
const BROKEN = 'g-0007';

/** An application of twenty games whose detail of one is broken, and the calls for that one. */
const aBrokenGame = async (fleet: TestFleet, broken: Answer, every_ms = HOUR_MS) => {
  const state = { calls: 0, name: 'Game', broken };
  const row = (id: string) => (id === BROKEN ? { ...goodRow(id), game_name: state.name } : goodRow(id));
  await startHostileApplication(
    fleet,
    'acme',
    {
      list: (pageNum) => ({ data: { total: IDS.length, list: pageNum === 1 ? IDS.map(row) : [] } }),
      detail: (id) => {
        if (id !== BROKEN) return { data: goodDetail(id) };
        state.calls += 1;
        return state.broken;
      },
    },
    { every_ms },
  );
  return state;
};

/** A run, one interval after the one before. @returns it, and whether it fetched the broken game */
const nextRun = async (
  fleet: TestFleet,
  state: { calls: number },
  options: { full?: boolean } = {},
): Promise<RunRow & { fetched: boolean }> => {
  await fleet.sql`update ingest_failures set last_at = last_at - ${HOUR_MS} * interval '1 millisecond'`;
  const before = state.calls;
  const run = await fleet.sync('acme', options);
  return { ...run, fetched: state.calls > before };
};

const invalid = { data: { ...goodDetail(BROKEN), game_icon: 'no array' } };

describe('A game whose detail fails in each run', () => {
  test('is fetched by the 1st, 2nd, 4th, 8th … run; the others are partial too', async () => {
    const fleet = await aFleet();
    const state = await aBrokenGame(fleet, invalid);
    const fetchedBy: number[] = [];
    for (let number = 1; number <= 17; number += 1) {
      const run = await nextRun(fleet, state);
      expect(run).toMatchObject({ outcome: 'partial', listed: 20, invalid: 1, failed: 0, withdrawn: 0 });
      if (run.fetched) fetchedBy.push(number);
    }
    expect(fetchedBy).toEqual([1, 2, 4, 8, 16]);
    state.broken = { data: goodDetail(BROKEN) };
    expect(await nextRun(fleet, state, { full: true })).toMatchObject({ outcome: 'succeeded', inserted: 1 });
    expect(await listFailures(fleet.sql, { limit: 1 })).toEqual([]);
  });
});

test('a game whose detail stays null is called as seldom as one that fails, and each run says so', async () => {
  const fleet = await aFleet();
  const state = await aBrokenGame(fleet, { data: null });
  const fetchedBy: number[] = [];
  for (let number = 1; number <= 9; number += 1) {
    const run = await nextRun(fleet, state);
    expect(run).toMatchObject({ outcome: 'partial', listed: 20, invalid: 0, failed: 0, missing: 1 });
    expect(run.reason).toBe('the list names 1 game whose detail is null: see failure list');
    if (run.fetched) fetchedBy.push(number);
  }
  expect(fetchedBy).toEqual([1, 2, 4, 8]);
  expect(await listFailures(fleet.sql, { limit: 2 })).toMatchObject([
    { application_game_id: BROKEN, kind: 'no_detail', count: 4 },
  ]);
  state.broken = { data: goodDetail(BROKEN) };
  expect(await nextRun(fleet, state, { full: true })).toMatchObject({ outcome: 'succeeded', inserted: 1 });
  expect(await listFailures(fleet.sql, { limit: 1 })).toEqual([]);
});

test('a game that failed for good is fetched once a day at least', async () => {
  const fleet = await aFleet();
  const state = await aBrokenGame(fleet, raw('gone', 404));
  await nextRun(fleet, state);
  await fleet.sql`update ingest_failures set count = 2000000000, last_at = now() - interval '23 hours'`;
  expect(await nextRun(fleet, state)).toMatchObject({ fetched: true });
  expect(await nextRun(fleet, state)).toMatchObject({ fetched: false, outcome: 'partial', invalid: 1 });
});

test('--full, a pull and a changed list entry fetch at once a game that failed often', async () => {
  const fleet = await aFleet();
  const state = await aBrokenGame(fleet, invalid);
  await nextRun(fleet, state);
  await fleet.sql`update ingest_failures set count = 9`;
  expect((await nextRun(fleet, state)).fetched).toBe(false);
  expect((await nextRun(fleet, state, { full: true })).fetched).toBe(true);

  state.name = 'Another name';
  expect((await nextRun(fleet, state)).fetched).toBe(true);
  expect((await nextRun(fleet, state)).fetched).toBe(false);

  const before = state.calls;
  await requestGames(fleet.sql, 'acme', [BROKEN]);
  const { id } = await fleet.producer.add(pullGameDetail, { application_id: 'acme' });
  await until(
    'the pull ends',
    async () => (await fleet.producer.queue(pullGameDetail).getJob(id ?? ''))?.finishedOn,
  );
  expect(state.calls).toBe(before + 1);
  expect((await nextRun(fleet, state)).fetched).toBe(false);
});

test('a failure that may pass delays a game by an hour at most; a game that was not called is fetched by the next run', async () => {
  const fleet = await aFleet();
  const state = await aBrokenGame(fleet, raw('oops', 500), HOUR_MS / 4);
  const often = (kind: string) =>
    fleet.sql`update ingest_failures set count = 9, kind = ${kind}, last_at = now()`;
  const afterMinutes = (minutes: number) => fleet.sql`
    update ingest_failures set last_at = last_at - ${minutes} * interval '1 minute'`;
  const fetches = async () => {
    const before = state.calls;
    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', failed: 1 });
    return state.calls > before;
  };
  await fetches();
  await often('http_status');
  await afterMinutes(45);
  expect(await fetches()).toBe(false);
  await afterMinutes(15);
  expect(await fetches()).toBe(true);
  for (const kind of ['not_requested', 'internal']) {
    await often(kind);
    expect(await fetches()).toBe(true);
  }
});

test('a pull of a game whose detail is still null does not end its failure: the next run says so too', async () => {
  const fleet = await aFleet();
  const state = await aBrokenGame(fleet, { data: goodDetail(BROKEN) });
  expect(await nextRun(fleet, state)).toMatchObject({ outcome: 'succeeded' });
  state.broken = { data: null };
  state.name = 'Renamed';
  expect(await nextRun(fleet, state)).toMatchObject({ outcome: 'partial', missing: 1 });
  const before = state.calls;
  await requestGames(fleet.sql, 'acme', [BROKEN]);
  await fleet.producer.add(pullGameDetail, { application_id: 'acme' });
  await until('the pull has called', async () => state.calls > before);
  await until('the request is done', async () => !(await hasWaitingGames(fleet.sql, 'acme', [BROKEN])));
  expect(await listFailures(fleet.sql, { limit: 9 })).toMatchObject([{ kind: 'no_detail' }]);
  expect(await nextRun(fleet, state)).toMatchObject({ outcome: 'partial', missing: 1 });
});
