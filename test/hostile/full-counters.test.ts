// A counter at the end of its type, which a stolen login stored, stops nothing: adding 1 to it failed, again and again.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { lockBackoff, saveBackoff } from '#db/queries/backoff.ts';
import { claimDeliveries, insertTestEvent } from '#db/queries/event-deliveries.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { saveReason } from '#db/queries/reasons.ts';
import { recordAddressFailure } from '#db/queries/receivers.ts';
import {
  addPulledBytes,
  countAttempts,
  postponeRefreshes,
  readIdleTurns,
  requestGames,
} from '#db/queries/refreshes.ts';
import { BEFORE_ALL_RUNS, pruneRuns } from '#db/queries/run-days.ts';
import { readRunHours } from '#db/queries/run-hours.ts';
import { sumPages } from '#db/queries/run-pages.ts';
import { findRun, insertRun, raiseFence } from '#db/queries/runs.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { abandonRun } from '#src/ingest/finish-run.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { afterFailedRun } from '#src/rules/backoff.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { giveAddress } from '#test/support/events.ts';
import { addApplication } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const FULL = 2_147_483_647;
const URL = 'https://events.example/';
const FAILURE = { application_game_id: 'g', kind: 'invalid_data', reasons: [] };

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  await giveAddress(sql, 'acme', URL);
});

test('a failed run of an application counts on, and ends', async () => {
  await database.as('console')`update applications set failed_runs = ${FULL}`;
  const worker = database.as('worker');
  const before = await lockBackoff(worker, 'acme');
  const now = new Date();
  const run = { started_at: now, finished_at: now, reason: null };
  await saveBackoff(
    worker,
    'acme',
    afterFailedRun(before ?? { failed_runs: 0, failing_since: null }, run, 60_000),
  );
  expect((await lockBackoff(worker, 'acme'))?.failing_since).toEqual(now);
});

test('an event is claimed, and its address fails', async () => {
  const worker = database.as('worker');
  await insertTestEvent(database.sql, 'acme');
  await database.as('console')`update event_deliveries set attempts = ${FULL}`;
  expect(await claimDeliveries(worker, 'acme', 1, 1)).toHaveLength(1);
  await database.as('console')`update event_webhooks set failures = ${FULL}`;
  const failed = { url: URL, error: 'timeout', wait_ms: 1, silence_ms: 1 };
  await recordAddressFailure(worker, { application_id: 'acme' }, failed);
  const [address] = await worker`select last_error from event_webhooks`;
  expect(address).toEqual({ last_error: 'timeout' });
});

test('a requested game has had its attempts', async () => {
  await requestGames(database.sql, 'acme', ['g']);
  await database.as('api')`update refresh_requests set attempts = 32767`;
  expect(await countAttempts(database.as('worker'), 'acme', ['g'], 5)).toEqual(['g']);
});

test('a game fails again', async () => {
  const worker = database.as('worker');
  await recordFailures(worker, 'acme', 'query_game_detail', [FAILURE]);
  await worker`update ingest_failures set count = ${FULL}`;
  await recordFailures(worker, 'acme', 'query_game_detail', [{ ...FAILURE, kind: 'timeout' }]);
  expect(await worker`select kind from ingest_failures`).toEqual([{ kind: 'timeout' }]);
});

/** Stores these columns of an ended run, as a stolen worker may. */
const storeRun = async (more: Record<string, unknown>) => {
  const run_id = randomUUID();
  await database.sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, finished_at)
    values (${run_id}, 'acme', 'manual', 'succeeded', now())`;
  await database.as('worker')`update sync_runs set ${database.sql(more)} where run_id = ${run_id}`;
};
const openRun = async () => {
  const wanted = { run_id: randomUUID(), application_id: 'acme', trigger: 'manual', full: false } as const;
  const run = await insertRun(database.as('worker'), { ...wanted, accept_withdrawals: false });
  if (run === undefined) throw new Error('no run was opened');
  return run;
};

test('a run is recovered, and ends', async () => {
  const worker = database.as('worker');
  const { run_id } = await openRun();
  const full = { row_count: FULL, listed: FULL, failed: FULL, withdrawn: FULL, total: FULL };
  for (const page_num of [1, 2])
    await worker`
      insert into sync_run_pages ${worker({ run_id, page_num, application_game_ids: [], open_games: { g: '' } as never, ...full })}`;
  await worker`update sync_runs set fence = ${FULL}, stored_bytes = ${Number.MAX_SAFE_INTEGER}`;
  const run = await findRun(worker, run_id);
  const raised = run && (await raiseFence(worker, run));
  expect(raised?.fence).not.toBe(FULL);
  expect(raised && (await sumPages(worker, run_id))).toMatchObject({ listed: 2 * FULL });
  expect(raised && (await abandonRun(worker, raised, 'no progress'))).toMatchObject({ outcome: 'abandoned' });
});

test('a run opens, whatever runs have stored, and stores what a day leaves', async () => {
  for (const started_at of ['infinity', 'infinity', new Date()])
    await storeRun({ started_at, stored_bytes: Number.MAX_SAFE_INTEGER });
  const run = await openRun();
  await abandonRun(database.sql, run, 'x');
  await database.sql`delete from sync_runs where started_at <> 'infinity'`;
  expect((await openRun()).storable_bytes).toBe(STORAGE.bytesPerDay);
});

test('the hours of the overview are counted', async () => {
  for (const inserted of [FULL, FULL]) await storeRun({ inserted });
  expect((await readRunHours(database.sql, 2)).at(-1)?.landed).toBe(2 * FULL);
});

test('old runs are deleted', async () => {
  const [{ day } = { day: '' }] = await database.sql<
    { day: string }[]
  >`select (now() - interval '9 days')::date::text as day`;
  for (let each = 0; each < 22; each += 1) await storeRun({ finished_at: new Date(day), listed: FULL });
  const counts = Object.fromEntries(RUN_COUNTERS.map((name) => [name, Number.MAX_SAFE_INTEGER]));
  const sums = { application_id: 'acme', day, outcome: 'succeeded', runs: FULL, ...counts };
  await database.as('worker')`insert into run_days ${database.sql(sums)}`;
  expect((await pruneRuns(database.as('worker'), 8 * DAY_MS, 100, BEFORE_ALL_RUNS)).deleted).toBeGreaterThan(
    1,
  );
});

test('requested games are pulled', async () => {
  const worker = database.as('worker');
  const full = { application_id: 'acme', idle_turns: 32767, stored_bytes: Number.MAX_SAFE_INTEGER };
  await worker`insert into refresh_turns ${worker({ ...full, next_at: new Date() })}`;
  await addPulledBytes(worker, 'acme', 1);
  await postponeRefreshes(worker, 'acme', 1, (await readIdleTurns(worker, 'acme')) + 1);
});

test('a reason is added', async () => {
  for (const code of ['first', 'second']) {
    expect(await saveReason(database.sql, { code, label: code, text: '' })).toMatchObject({ code });
    await database.as('console')`update reasons set position = 32767 where code = ${code}`;
  }
  // The largest position is not that of a list without reasons.
  await database.sql`delete from reasons`;
  for (const [code, position] of [
    ['first', 1],
    ['second', 2],
  ] as const)
    expect(await saveReason(database.sql, { code, label: code, text: '' })).toMatchObject({ position });
});
