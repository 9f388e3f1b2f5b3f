// Rows of odd sizes and values are refused to every role, or bounded where they are read.
import { beforeAll, expect, test } from 'vitest';
import type { Database, Queryable } from '#db/client.ts';
import { insertTestEvent } from '#db/queries/event-deliveries.ts';
import { countFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { countWrapsByKey } from '#db/queries/wrapped-keys.ts';
import { DATABASE_ROLES, type DatabaseRole, roleName } from '#db/roles.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addTestOperator, PASSWORD_HASH } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';

const { database } = useStolenLogins();

beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  await addTestOperator(database.sql, 'adam', 'admin', 'reviewer');
});

/** Columns that need no check: every value of theirs is one, a trigger writes it, an index bounds it, or no page reads it. */
const ANY_VALUE = [
  'audit_log.entry_id',
  'audit_log.hash',
  'audit_log.previous_hash',
  'game_icon_hashes.dhash',
  'oidc_flows.code_verifier',
  'oidc_flows.flow_hash',
  'oidc_flows.next',
  'oidc_flows.nonce',
  'oidc_flows.state',
  'operator_sessions.session_hash',
  'picture_contents.dhash',
  'portal_sessions.session_hash',
  'sign_in_attempts.attempt_key',
  'sign_in_attempts.attempts',
  'sign_in_links.link_hash',
];

test('each number that a process may write has a check, and each text, list, JSON and bytes one of its size', async () => {
  const rows = await database.sql<{ column: string }[]>`
    select c.relname || '.' || a.attname as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname <> 'application_id'
      and (t.typcategory = 'A' or t.typname in ('int2', 'int4', 'int8', 'text', 'jsonb', 'bytea', 'date', 'tsvector'))
      and exists (select from unnest(${DATABASE_ROLES.filter((role) => role !== 'operator').map(roleName)}::text[]) role
                  where has_column_privilege(role, c.oid, a.attnum, 'INSERT')
                     or has_column_privilege(role, c.oid, a.attnum, 'UPDATE'))
      and not exists (
        select from pg_constraint k cross join pg_get_constraintdef(k.oid) as definition
        where k.conrelid = c.oid and a.attnum = any(k.conkey) and (k.contype = 'f' or k.contype = 'c' and (
          t.typname in ('int2', 'int4', 'int8', 'date', 'tsvector')
          or t.typname in ('text', 'bytea') and definition ~ ('(octet|char)_length\\(' || a.attname || '\\)')
          or definition ~ ('octet_length\\(\\(' || a.attname || '\\)::text\\)')
          or definition ~ ('\\m' || a.attname || ' (= ANY|~)'))))
    order by 1`;
  expect(rows.map(({ column }) => column)).toEqual(ANY_VALUE);
});

const RUN = '00000000-0000-7000-8000-000000000001';
const REQUEST = (kind: string, subject: string, requested: string) => (sql: Queryable) =>
  sql`
  insert into approvals (approval_id, kind, subject, version, requested, reason, requested_by, expires_at)
  values (gen_random_uuid(), ${kind}, ${subject}, 'x', ${requested}::text::jsonb, 'x', 'adam', now() + interval '1 hour')`;
const set = (table: string, column: string, value: string) => (sql: Queryable) =>
  sql`update ${sql(table)} set ${sql(column)} = ${sql.unsafe(value.includes('(') ? value : `'${value}'`)}`;

/** A row of each table that the attacks change. */
const storeOneOfEach = async (sql: Database) => {
  await sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, finished_at)
    values (${RUN}, 'acme', 'manual', 'failed', now()) on conflict do nothing`;
  await sql`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    values ('acme', 'query_game_list', '', 'invalid_item', '[]') on conflict do nothing`;
  await giveAddress(sql, 'acme', 'https://events.example/');
  await insertTestEvent(sql, 'acme');
  await sql`
    insert into event_subscriptions (subscription_id, url, types, secret, secret_keys, position)
    values (gen_random_uuid(), 'https://events.example/', '{}', '\\x01', '[]', 0)`;
  await sql`insert into refresh_requests (application_id, application_game_id) values ('acme', 'g') on conflict do nothing`;
  await upsertGames(sql, 'acme', [fetchedGame({ game_id: 'one' })]);
  await sql`
    insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
    values (${RUN}, 1, 1, 1, '{}', '{}') on conflict do nothing`;
};

const BYTES = "decode(repeat('00', 30000), 'hex')";

/** A KYC record with these values. */
const storeRecord = (changed: string, value: string) => async (sql: Queryable) => {
  await database.sql`
    insert into content_providers (cp_id, application_id, application_cp_id) values (${RUN}, 'acme', 'x') on conflict do nothing`;
  return sql.unsafe(`
    insert into kyc_records (application_id, record_id, cp_id, ${KYC_SEALED_FIELDS.join(', ')}, data_keys, fingerprint,
      received_at, changed_fields, field_fingerprints)
    values ('acme', gen_random_uuid(), '${RUN}', ${KYC_SEALED_FIELDS.map(() => value).join(', ')}, '[]', '\\x01', now(),
      ${changed}, '\\x01')`);
};

/** Each ended pages, answers or metrics of others, or had them lie. */
const REFUSED: [DatabaseRole, string, (sql: Queryable) => Promise<unknown>][] = [
  ['console', 'an interval of 0', set('applications', 'every_ms', '0')],
  ['console', 'an interval of 292 million years', set('applications', 'every_ms', '9223372036854775807')],
  ['console', 'an endless age of details', set('applications', 'detail_max_age_ms', '9223372036854775807')],
  ['console', 'a negative rate', set('applications', 'rate', '-1')],
  ['console', 'two billion calls at once', set('applications', 'concurrency', '2147483647')],
  ['worker', 'fewer than no failed runs', set('applications', 'failed_runs', '-1')],
  ['operator_api', 'a null among names', set('applications', 'volatile_parameters', '{NULL}')],
  ['operator_api', 'names in two dimensions', set('applications', 'volatile_parameters', '{{a},{b}}')],
  ['operator_api', 'names from 5 on', set('applications', 'volatile_parameters', '[5:5]={a}')],
  [
    'console',
    'a decision of no time',
    (sql) => sql`
      insert into game_audits (game_id, revision, audit_status, decided_by, waiting_since)
      values (${RUN}, 1, 'passed', 'adam', '-infinity')`,
  ],
  ['worker', 'fewer than no games', set('sync_runs', 'listed', '-1')],
  ['worker', 'more rows than a number has', set('sync_runs', 'total_max', '9223372036854775807')],
  ['worker', 'an unknown fault', set('sync_runs', 'fault', 'constructor')],
  [
    'worker',
    'a picture that is null',
    (sql) =>
      upsertGames(sql, 'acme', [fetchedGame({ game_id: 'odd' }, undefined, { game_icon: [null as never] })]),
  ],
  ['worker', 'fewer than no failures', set('ingest_failures', 'count', '-1')],
  ['operator_api', 'a request about no run', REQUEST('withdrawals', 'run:none', '{}')],
  ['console', 'a request about no operator', REQUEST('officer', 'adam', '{}')],
  [
    'worker',
    'a kind of failure of 10 MB',
    (sql) => sql`update ingest_failures set kind = repeat('x', 10000000)`,
  ],
  ['console', 'the words of a rejection of 4,001 characters', set('reasons', 'text', 'x'.repeat(4_001))],
  ['console', 'a label of 201 characters', set('reasons', 'label', 'x'.repeat(201))],
  ['console', 'a code that is none', set('reasons', 'code', 'X')],
  ['worker', 'a reason of 30 KB', set('applications', 'pause_reason', 'x'.repeat(30_000))],
  [
    'worker',
    'names of changed fields of 40 MB',
    storeRecord("array_fill(repeat('x', 10000), array[4000])", "'\\x01'"),
  ],
  [
    'worker',
    '60,000 pictures of a game',
    (sql) => sql`
      update games set game_icon = array_fill('a'::text, array[60000]), revision = revision + 1`,
  ],
  [
    'worker',
    'a list of 4 MB as the pictures of a game, which another table keeps in 50 KB',
    async (sql) => {
      await set('sync_run_pages', 'application_game_ids', "array_fill(repeat('x', 39000), array[100])")(sql);
      await sql`
        update games set game_store_pic = (select application_game_ids from sync_run_pages), revision = revision + 1`;
    },
  ],
  ['worker', 'a value of a KYC record of 30 KB', storeRecord("'{}'", BYTES)],
  ['console', 'three million roles', set('operators', 'roles', "array_fill('viewer'::text, array[3000000])")],
  ['console', 'a secret of 30 KB', set('event_webhooks', 'secret', BYTES)],
  [
    'console',
    'the names of a thousand keys',
    set(
      'event_webhooks',
      'secret_keys',
      "(select jsonb_agg(jsonb_build_object('key_id', n::text, 'wrapped', '')) from generate_series(1, 1000) n)",
    ),
  ],
  [
    'worker',
    'ids of 5 MB',
    set('sync_run_pages', 'application_game_ids', "array_fill(repeat('x', 5000), array[1000])"),
  ],
  ['console', 'a request about another kind', REQUEST('officer', `run:${RUN}`, '{}')],
  ['console', 'a request that is null', REQUEST('officer', 'operator:adam', 'null')],
  ['kyc_desk', 'a request of odd games', REQUEST('erase', 'application:acme', '{"game_ids": {}}')],
  ['kyc_desk', 'a request of odd roles', REQUEST('erase', 'application:acme', '{"roles": null}')],
  [
    'api',
    'an entry of the audit log whose details are null',
    (sql) => sql`
      insert into audit_log (actor, actor_kind, action, subject, details)
      values ('acme', 'application', 'game.message', 'application:acme', 'null')`,
  ],
  [
    'console',
    'a password that takes a gigabyte to verify',
    (sql) => sql`
      update operators set password_hash = ${PASSWORD_HASH.replace('m=8', 'm=1048576')} where login = 'adam'`,
  ],
  [
    'console',
    'a password that cannot be verified',
    (sql) =>
      sql`update operators set password_hash = ${PASSWORD_HASH.replace('t=1', 't=0')} where login = 'adam'`,
  ],
];

test.each(REFUSED)('the stolen login of %s does not store %s', async (role, _, write) => {
  await storeOneOfEach(database.sql);
  await expect(write(database.as(role))).rejects.toMatchObject({ code: '23514' });
});

/** Postgres before 17 subtracts no infinity: metrics, pulls, events and decisions of others failed. */
const SUBTRACTED: [DatabaseRole, table: string, column: string][] = [
  ['console', 'applications', 'last_success_at'],
  ['worker', 'applications', 'failing_since'],
  ['console', 'event_deliveries', 'requested_at'],
  ['console', 'event_webhooks', 'failing_since'],
  ['operator_api', 'event_subscriptions', 'failing_since'],
  ['api', 'refresh_requests', 'requested_at'],
  ['worker', 'games', 'fetched_at'],
  ['worker', 'games', 'addresses_end_at'],
];

test.each(SUBTRACTED)('the stolen login of %s stores no infinity in %s.%s', async (role, table, column) => {
  await storeOneOfEach(database.sql);
  for (const time of ['infinity', '-infinity'])
    await expect(set(table, column, time)(database.as(role))).rejects.toMatchObject({ code: '23514' });
});

test('a stolen worker or console names no more kinds and keys than metrics show', async () => {
  await storeOneOfEach(database.sql);
  await database.as('worker')`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    select 'acme', 'query_game_detail', n::text, rpad(n::text, 20000, 'x'), '[]' from generate_series(1, 300) n`;
  const kinds = await countFailures(database.as('api'));
  expect([kinds.length, Math.max(...kinds.map(({ kind }) => kind.length))]).toEqual([200, 100]);
  await database.as('console')`
    update event_webhooks set secret_keys = (
      select jsonb_agg(jsonb_build_object('key_id', n::text, 'wrapped', '')) from generate_series(1, 250) n)`;
  expect(await countWrapsByKey(database.as('api'))).toHaveLength(200);
});
