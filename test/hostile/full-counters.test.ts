// A counter at the end of its type, which a stolen login stored, stops nothing: adding 1 to it failed, again and again.
import { beforeAll, expect, test } from 'vitest';
import { lockBackoff, saveBackoff } from '#db/queries/backoff.ts';
import { claimDeliveries, insertTestEvent } from '#db/queries/event-deliveries.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { recordAddressFailure } from '#db/queries/receivers.ts';
import { countAttempts, requestGames } from '#db/queries/refreshes.ts';
import { afterFailedRun } from '#src/rules/backoff.ts';
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
