// A time that never comes, which a stolen login stored, does not outlast it.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { insertCheck } from '#db/queries/application-checks.ts';
import { compareGames } from '#db/queries/compare-games.ts';
import { insertTestEvent } from '#db/queries/event-deliveries.ts';
import { insertPositions } from '#db/queries/events.ts';
import { claimFirstGame, leaseGame } from '#db/queries/game-leases.ts';
import { upsertGames } from '#db/queries/games.ts';
import { listDueSubscriptions } from '#db/queries/subscriptions.ts';
import { correctTimesAhead } from '#db/queries/times-ahead.ts';
import { findPresentedToken, recordTokenUse } from '#db/queries/tokens.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addTestOperator } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';

const { database, expectRefused } = useStolenLogins();
const GAME = '00000000-0000-7000-8000-000000000001';

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  await addTestOperator(sql, 'kim', 'admin');
  await addToken(sql, 'acme');
});

test('no session begins later than now', async () => {
  const session = (site: string) =>
    `insert into operator_sessions (session_hash, login, site, started_at, seen_at) values ('\\x01', 'kim', '${site}', 'infinity', 'infinity')`;
  const begin = "update operator_sessions set started_at = 'infinity'";
  await expectRefused('kyc_desk', [session('kyc_desk'), begin]);
  await expectRefused('console', [
    session('console'),
    begin,
    "insert into portal_sessions (session_hash, token_id, started_at) select '\\x01', token_id, 'infinity' from api_tokens",
    "update portal_sessions set started_at = 'infinity'",
  ]);
});

test('no game is kept from other reviewers', async () => {
  await database.as('console')`insert into game_leases values (${GAME}, 'kim', null, 'infinity')`;
  expect(await claimFirstGame(database.sql, [GAME], 'ada', null)).toBe(GAME);
  await database.as('console')`update game_leases set holder = 'kim', leased_until = 'infinity'`;
  expect(await leaseGame(database.sql, GAME, 'ada')).toBe('ada');
});

test('no detail is current for ever, and none waits for ever after it failed', async () => {
  const worker = database.as('worker');
  const game = fetchedGame({ game_id: 'g' }, new Date());
  await upsertGames(worker, 'acme', [game]);
  const wanted = async () =>
    Object.keys(
      (await compareGames(worker, 'acme', [game], { full: false, startedAt: new Date(), everyMs: 1 }))
        .open_games,
    );
  expect(await wanted()).toEqual([]);
  await worker`update games set fetched_at = '9998-01-01'`;
  expect(await wanted()).toEqual(['g']);
  await worker`update games set fetched_at = now() - interval '300 days'`;
  await worker`update applications set details_due_at = '9998-01-01', details_full_at = '9998-01-01'`;
  expect(await correctTimesAhead(worker)).toBe(1);
  expect(await wanted()).toEqual(['g']);
  await worker`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons, last_at, count, list_hash)
    values ('acme', 'query_game_detail', 'g', 'invalid_data', '[]', 'infinity', 9, ${game.list_hash})`;
  expect(await wanted()).toEqual(['g']);
});

test('no check of an application is the last one', async () => {
  const check = (more: object) => ({
    check_id: randomUUID(),
    application_id: 'acme',
    requested_by: 'kim',
    ...more,
  });
  for (const finished_at of [null, new Date()])
    await database.as('console')`
      insert into application_checks ${database.sql(check({ requested_at: 'infinity', finished_at }))}`;
  expect(await insertCheck(database.sql, check({}))).toBe(true);
});

test('no event waits for ever', async () => {
  const { sql } = database;
  await giveAddress(sql, 'acme', 'https://events.example/');
  await insertTestEvent(sql, 'acme');
  await database.as('console')`update event_webhooks set next_attempt_at = 'infinity'`;
  await database.as('console')`update event_deliveries set next_attempt_at = 'infinity'`;
  expect(await correctTimesAhead(database.as('worker'))).toBe(2);
  expect(
    await sql`
    select from event_webhooks join event_deliveries d using (application_id)
    where greatest(d.next_attempt_at, event_webhooks.next_attempt_at) <= now()`,
  ).toHaveLength(1);
});

test('no subscription has had the events of the future', async () => {
  const { sql } = database;
  await sql`
    insert into event_subscriptions (subscription_id, url, types, secret, secret_keys, position)
    values (gen_random_uuid(), 'https://events.example/', '{}', '\\x01', '[]', 0)`;
  await database.as('worker')`update event_subscriptions set position = ${Number.MAX_SAFE_INTEGER}`;
  await insertTestEvent(sql, 'acme');
  await insertPositions(sql, 'stream_events', 100);
  await addApplication(sql, 'beta');
  await insertPositions(sql, 'stream_events', 100);
  expect(await listDueSubscriptions(database.as('worker'), 1)).toHaveLength(1);
});

test('no former version of a KYC record is replaced later than now', async () => {
  await expectRefused('worker', [
    'insert into kyc_former_records (replaced_at) select replaced_at from kyc_former_records',
  ]);
});

test('no last use of a token stays in the future', async () => {
  const { sql } = database;
  const { token, token_id } = await addToken(sql, 'acme');
  await database.as('api')`update api_tokens set last_used_at = 'infinity'`;
  expect(await findPresentedToken(sql, hashApiToken(token))).toMatchObject({ recently_used: false });
  await recordTokenUse(database.as('api'), token_id);
  expect(
    await sql`select from api_tokens where token_id = ${token_id} and last_used_at <= now()`,
  ).toHaveLength(1);
});

test('no record was received before all time, which Postgres below 17 does not subtract: the first page of the desk failed', async () => {
  await store(database.sql, ringOf(['k1']), 'acme', PLANTED);
  const kept = `record_id, application_id, cp_id, ${KYC_SEALED_FIELDS.join(', ')}, data_keys, changed_fields`;
  for (const plant of [
    `with former as (delete from kyc_records returning *) insert into kyc_records
     select r.* from former, jsonb_populate_record(null::kyc_records, to_jsonb(former) || '{"received_at": "-infinity"}') r`,
    `insert into kyc_former_records (${kept}, received_at) select ${kept}, '-infinity' from kyc_records`,
  ])
    await expect(database.as('worker').unsafe(plant)).rejects.toMatchObject({ code: '23514' });
});
