import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase, type Queryable } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { findSendingAddress } from '#db/queries/event-webhooks.ts';
import { readWanted } from '#src/cli/commands/apply-file.ts';
import { planChanges } from '#src/cli/commands/apply-plan.ts';
import { addApplication, changeApplication } from '#src/operations/applications.ts';
import { setEventAddress } from '#src/operations/event-address.ts';
import { rotateEventSecret, rotateSubscriptionSecret } from '#src/operations/events.ts';
import { operate, operateAll } from '#src/operations/operate.ts';
import type { AnyOperation } from '#src/operations/operation.ts';
import { resealKeys } from '#src/operations/reseal.ts';
import { subscribe } from '#src/operations/subscriptions.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import { openEventSecrets } from '#src/sealing/event-secret.ts';
import type { KeyProvider, KeyRing } from '#src/sealing/key-provider.ts';
import { addApplication as register } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { KIM, testPlatform } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NAME = 'an operator';
const database = useTestDatabase();

/** A ring whose key responds to no call before its release. */
const slowRing = () => {
  const [key] = ringOf(['k1']).records as [KeyProvider];
  const gate = Promise.withResolvers<void>();
  const waiting = { calls: 0 };
  const call = async <Result>(answer: () => Promise<Result>): Promise<Result> => {
    waiting.calls += 1;
    await gate.promise;
    return answer();
  };
  const provider: KeyProvider = {
    key_id: key.key_id,
    wrap: (...given) => call(() => key.wrap(...given)),
    unwrap: (...given) => call(() => key.unwrap(...given)),
  };
  const keys: KeyRing = { records: [provider], tokens: [provider] };
  onTestFinished(() => gate.resolve());
  return { keys, waiting, release: () => gate.resolve(), fail: (error: Error) => gate.reject(error) };
};

const inTransaction = (sql: Queryable) => sql`
  select query from pg_stat_activity
  where application_name = ${NAME} and datname = current_database() and xact_start is not null`;

/** An application with webhooks at two origins and an address for events, a subscription, and a KYC record. */
const world = async () => {
  const { sql } = database;
  await sql`truncate applications, kyc_keys, event_subscriptions cascade`;
  const keys = ringOf(['k1']);
  await register(sql, 'acme', { query_cp_kyc_webhook: 'http://127.0.0.1:10/kyc' }, keys);
  await store(sql, keys, 'acme', PLANTED);
  const platform = testPlatform(sql, { keys: async () => keys });
  const events_webhook = 'https://acme.example/events';
  await operate(changeApplication, { application_id: 'acme', events_webhook }, KIM, platform);
  const stream = { url: 'https://platform.example/stream', types: [] };
  return operate(subscribe, stream, KIM, platform);
};

const acme = { application_id: 'acme' };
const WEBHOOK = 'http://127.0.0.1:9/webhook';
const webhooks = {
  query_game_list_webhook: WEBHOOK,
  query_game_detail_webhook: WEBHOOK,
  query_cp_kyc_webhook: WEBHOOK,
};
const bolt = { application_id: 'bolt', name: 'Bolt', access_token: 'a-token', ...webhooks };

it.each<[string, unknown, (subscription_id: string) => object]>([
  ['a new application', addApplication, () => ({ ...bolt, events_webhook: 'https://bolt.example/events' })],
  ['a new access token', changeApplication, () => ({ ...acme, access_token: 'another-token' })],
  [
    'a token that is sent to fewer origins',
    changeApplication,
    () => ({ ...acme, query_cp_kyc_webhook: WEBHOOK }),
  ],
  ['a new address in an update', changeApplication, () => ({ ...acme, events_webhook: `${WEBHOOK}/events` })],
  ['a new address', setEventAddress, () => ({ ...acme, url: `${WEBHOOK}/events` })],
  ['a new secret', rotateEventSecret, () => acme],
  ['a new secret of a subscription', rotateSubscriptionSecret, (subscription_id) => ({ subscription_id })],
  ['a subscription', subscribe, () => ({ url: 'https://platform.example/other', types: [] })],
  ['a reseal', resealKeys, () => ({})],
])('%s waits for a slow key service without a transaction', async (_what, operation, given) => {
  const { sql, databaseUrl } = database;
  const { subscription_id } = await world();
  const { keys, waiting, release } = slowRing();
  const mine = openDatabase(databaseUrl, { max: 1, applicationName: NAME });
  onTestFinished(() => mine.end());
  const platform = testPlatform(mine, { keys: async () => keys });
  const done = operate(operation as AnyOperation, given(subscription_id), KIM, platform);

  await expect.poll(() => waiting.calls).toBe(1);
  await expect.poll(() => inTransaction(sql)).toEqual([]);
  expect(await mine`select 1 as answer`).toEqual([{ answer: 1 }]);
  release();
  await done;
});

it('operations that run together call a slow key service before their transaction', async () => {
  const { sql, databaseUrl } = database;
  await world();
  const { keys, waiting, release } = slowRing();
  const mine = openDatabase(databaseUrl, { max: 1, applicationName: NAME });
  onTestFinished(() => mine.end());
  const planned = [
    {
      operation: changeApplication as unknown as AnyOperation,
      given: { ...acme, access_token: 'another-token' },
    },
    { operation: addApplication as unknown as AnyOperation, given: bolt },
  ];
  const done = operateAll(planned, KIM, testPlatform(mine, { keys: async () => keys }));

  await expect.poll(() => waiting.calls).toBe(2);
  await expect.poll(() => inTransaction(sql)).toEqual([]);
  release();
  await done;
  expect(waiting.calls).toBe(2);
  const added = await findApplication(sql, 'bolt');
  expect(await openAccessToken(ringOf(['k1']), added as NonNullable<typeof added>)).toBe('a-token');
});

const plan = (operation: unknown, given: { application_id: string; access_token: string }) => ({
  operation: operation as AnyOperation,
  given,
});

it('operations that run together call the key service sixteen at once, and no more of them after a failure', async () => {
  const { sql } = database;
  await world();
  const planned = Array.from({ length: 40 }, (_, n) =>
    plan(addApplication, { ...bolt, application_id: `bolt-${n}` }),
  );
  const { keys, waiting, release } = slowRing();
  const done = operateAll(planned, KIM, testPlatform(sql, { keys: async () => keys }));
  await expect.poll(() => waiting.calls).toBe(16);
  release();
  await done;
  expect(waiting.calls).toBe(40);
  const names = await sql<{ application_id: string }[]>`
    select application_id from applications where application_id like 'bolt-%' order by created_at, substr(application_id, 6)::int`;
  expect(names.map(({ application_id }) => application_id)).toEqual(
    planned.map(({ given }) => given.application_id),
  );

  // `apply` opens what is there, to compare it.
  const settings = planned.map(({ given: { application_id, access_token: _, ...given } }) => [
    application_id,
    { ...given, access_token_env: 'TOKEN' },
  ]);
  const file = JSON.stringify({ applications: Object.fromEntries(settings) });
  const wanted = await readWanted('-', Readable.from([file]), { env: { TOKEN: 'a-token' }, home: tmpdir() });
  const compared = slowRing();
  const comparing = planChanges(sql, wanted, async () => compared.keys, false);
  await expect.poll(() => compared.waiting.calls).toBe(16);
  compared.release();
  expect((await comparing).changes).toEqual([]);
  expect(compared.waiting.calls).toBe(40);

  const down = slowRing();
  const failing = operateAll(
    planned.map(({ given }) =>
      plan(changeApplication, { application_id: given.application_id, access_token: 'another' }),
    ),
    KIM,
    testPlatform(sql, { keys: async () => down.keys }),
  );
  await expect.poll(() => down.waiting.calls).toBe(16);
  down.fail(new Error('the key service is down'));
  await expect(failing).rejects.toThrow('the key service is down');
  expect(down.waiting.calls).toBe(16);
});

it('an address that changed while the key service was slow gets a secret that opens for it', async () => {
  const { sql } = database;
  await world();
  const { keys, waiting, release } = slowRing();
  const rotating = operate(rotateEventSecret, acme, KIM, testPlatform(sql, { keys: async () => keys }));
  await expect.poll(() => waiting.calls).toBe(1);
  const fast = testPlatform(sql, { keys: async () => ringOf(['k1']) });
  await operate(changeApplication, { ...acme, events_webhook: 'https://acme.example/moved' }, KIM, fast);
  release();
  const { secret } = await rotating;
  expect(waiting.calls).toBe(2);
  const address = await findSendingAddress(sql, 'acme');
  const opened = await openEventSecrets(ringOf(['k1']), address as NonNullable<typeof address>);
  expect(opened[0]).toBe(secret);
});
