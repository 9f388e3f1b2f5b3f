import { expect, it } from 'vitest';
import { findSendingAddress } from '#db/queries/event-webhooks.ts';
import { removeEventAddress, setEventAddress } from '#src/operations/event-address.ts';
import { rotateEventSecret } from '#src/operations/events.ts';
import { operate } from '#src/operations/operate.ts';
import { proveApiToken } from '#src/rules/api-token.ts';
import { createEventBox, readSealingRing, withEventBox } from '#src/sealing/event-box.ts';
import { openEventSecrets } from '#src/sealing/event-secret.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, addToken, testKeys } from '#test/support/factories.ts';
import { keyErrorOf } from '#test/support/kyc.ts';
import { testPlatform } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();

const address = (url: string) =>
  `insert into event_webhooks (application_id, url, secret, secret_keys) values ('acme', '${url}', '\\x01', '[]')
   on conflict (application_id) do update set url = '${url}', secret = '\\x02'`;

const webhooks = {
  query_game_list_webhook: 'https://acme.example/list',
  query_game_detail_webhook: 'https://acme.example/detail',
  query_cp_kyc_webhook: 'https://acme.example/kyc',
};

it('a stolen console sends the events of an application to no origin that it has not given', async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', webhooks);
  await addApplication(sql, 'bolt');
  const own = await addToken(sql, 'acme');
  const other = await addToken(sql, 'bolt');
  const ended = await addToken(sql, 'acme', new Date(0));
  const evil = address('https://evil.example/events');
  const proven = (hex: string) => `select set_config('catalogue.token_proof', '${hex}', true); ${evil}`;
  const hex = ({ token }: { token: string }) => proveApiToken(token).toString('hex');
  const [stored] = await sql<{ hash: string }[]>`
    select encode(token_hash, 'hex') as hash from api_tokens where token_id = ${own.token_id}`;
  await expectRefused('console', [
    evil,
    ...['', stored?.hash ?? '', hex(other), hex(ended)].map(proven),
    ...[
      'https://acme.example@evil.example',
      'https://acme.example\\@evil.example',
      'https://acme.example:8443',
      'https://acme.example.evil.example',
      'HTTPS://acme.example',
      ' https://acme.example',
    ].map(address),
    'select secret from event_webhooks',
    'update event_webhooks set former_secret = secret',
    'select data_keys from kyc_keys',
    "update kyc_keys set public_key = '\\x01'",
    "insert into kyc_keys (purpose, data_keys) values ('events', '[]')",
  ]);
  // A token that was valid when the transaction began.
  const soon = await addToken(sql, 'acme', new Date(Date.now() + 1_000));
  await expectRefused('console', [`select pg_sleep(1.5); ${proven(hex(soon))}`]);
  expect(await attempt('console', address('https://acme.example/events'))).toBe(1);
  await expectRefused('console', [evil, "update event_webhooks set url = 'https://evil.example'"]);
  await attempt('console', proven(hex(own)));
  expect(await sql`select url from event_webhooks`).toEqual([{ url: 'https://evil.example/events' }]);
});

it('a console with its own role sets the address that a developer gives, and keeps the secret before', async () => {
  const { sql } = database;
  await sql`truncate event_webhooks, api_tokens cascade`;
  await addApplication(sql, 'acme', webhooks);
  await createEventBox(sql, testKeys);
  const { token } = await addToken(sql, 'acme');
  const own = database.as('console');
  const caller = { actor: { actor: 'acme', actor_kind: 'application' }, roles: [] } as const;
  const ring = await readSealingRing(own);
  const platform = testPlatform(own, { keys: async () => ring });
  const given = { application_id: 'acme', url: 'https://new.example/events', api_token: token };
  const { secret } = await operate(setEventAddress, given, caller, platform);
  const rotated = await operate(rotateEventSecret, { application_id: 'acme' }, caller, platform);
  const sealed = await findSendingAddress(sql, 'acme');
  if (sealed === undefined) throw new Error('no address');
  expect(await openEventSecrets(withEventBox(sql, testKeys), sealed)).toEqual([rotated.secret, secret]);
  expect((await keyErrorOf(() => openEventSecrets(ring, sealed))).code).toBe('unknown_key');
  await operate(removeEventAddress, { application_id: 'acme' }, caller, platform);
  expect(await sql`select from event_webhooks`).toEqual([]);
});

it('a stolen console delivers the events of an application to no address of another', async () => {
  const { sql } = database;
  await sql`truncate events cascade`;
  await sql`
    insert into events (event_id, application_id, type, game_id, data, created_at)
    values (gen_random_uuid(), 'acme', 'game.passed', gen_random_uuid(), '{}', now())`;
  const login = database.as('console');
  const deliverTo = (id: string) => login`
    insert into event_deliveries (event_id, application_id) select event_id, ${id} from events`;
  const refused = { constraint_name: 'event_deliveries_event' };
  await expect(deliverTo('bolt')).rejects.toMatchObject(refused);
  await deliverTo('acme');
  await expect(login`update event_deliveries set application_id = 'bolt'`).rejects.toMatchObject(refused);
});
