import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { findSendingAddress } from '#db/queries/event-webhooks.ts';
import { eventSchema } from '#src/contract/events.ts';
import { KeyError } from '#src/sealing/errors.ts';
import { openEventSecrets } from '#src/sealing/event-secret.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import {
  aReceiver,
  aSender,
  giveAddress,
  isGenuine,
  passTime,
  type Received,
  withEvents,
} from '#test/support/events.ts';
import { testKeys } from '#test/support/factories.ts';
import { keyErrorOf, keysText, ringOf } from '#test/support/kyc.ts';
import { reseal } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const verify = (received: Received, secret: string): unknown =>
  new Webhook(secret).verify(received.body, received.headers as Record<string, string>);

it('a delivery is signed as Standard Webhooks say, without a token, and is the event of event/list', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver();
  const { application_id, secret } = await withEvents(sql, url);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await aSender(sql).deliverNow(application_id)).toEqual({ delivered: 1, failed: 0 });
  const [one] = received as [Received];
  const document = eventSchema.parse(verify(one, secret));
  expect(isGenuine(one, secret)).toBe(true);
  expect(one.headers['webhook-id']).toBe(document.event_id);
  expect(one.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(one.headers.authorization).toBeUndefined();
  expect(document).toMatchObject({
    type: 'game.passed',
    data: { application_game_id: 'g-0', why: 'decided' },
  });
  const changed = { ...one, body: one.body.replace('passed', 'failed') };
  expect(isGenuine(changed, secret)).toBe(false);
  expect(() => verify(changed, secret)).toThrow('No matching signature');
  const [row] = await sql`select state, attempts, last_status, last_error from event_deliveries
    where event_id = ${document.event_id}`;
  expect(row).toEqual({ state: 'delivered', attempts: 1, last_status: 204, last_error: null });
});

it('after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
  const { sql, databaseUrl } = database;
  const { received, url } = await aReceiver();
  const { application_id, secret, games } = await withEvents(sql, url, 2);
  const env = { ...asOperator(databaseUrl), ENCRYPTION_KEYS: keysText('k1'), WEBHOOK_ALLOW_HTTP: 'true' };
  const update = ['app', 'update', application_id, '--events-webhook', url, '--json'];
  const set = documentOf(await runCli(update, env));
  expect(set).toMatchObject({ application_id, events_webhook: url, events_status: 'active' });
  expect(set.secret).not.toBe(secret);
  const rotated = documentOf(await runCli(['event', 'secret', 'rotate', application_id, '--json'], env));
  const sender = aSender(sql, { keys: ringOf(['k1']) });
  expect(await sender.deliverNow(application_id)).toMatchObject({ delivered: games.length });
  for (const one of received) {
    for (const either of [set.secret, rotated.secret]) {
      expect(isGenuine(one, either)).toBe(true);
      verify(one, either);
    }
    expect(isGenuine(one, secret)).toBe(false);
  }
  await passTime(sql, application_id, '25 hours');
  await runCli(['event', 'retry', '--application', application_id], env);
  await sql`update event_deliveries set state = 'pending', next_attempt_at = now() where application_id = ${application_id}`;
  received.length = 0;
  expect(await sender.deliverNow(application_id)).toMatchObject({ delivered: games.length });
  expect(received.map((one) => [isGenuine(one, set.secret), isGenuine(one, rotated.secret)])).toEqual(
    games.map(() => [false, true]),
  );
  const shown = documentOf(await runCli(['audit', 'list', '--json', '--limit', '3'], env));
  expect(JSON.stringify(shown)).toContain('event_secret.rotate');
});

it('a secret is sealed, and opens for the address that it was made for alone', async () => {
  const { sql } = database;
  const { url } = await aReceiver();
  const attacker = await aReceiver();
  const { application_id, secret } = await withEvents(sql, url);
  const stored = JSON.stringify(await everyRow(sql));
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
  await sql`update event_webhooks set url = ${attacker.url} where application_id = ${application_id}`;
  const sender = aSender(sql);
  const error = await keyErrorOf(() => sender.deliverNow(application_id));
  expect(error).toMatchObject({ code: 'does_not_open' });
  expect(error.message).toContain(`app update ${application_id} --events-webhook`);
  expect(attacker.received).toEqual([]);
  // Postponed, and no fault of the receiver.
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
  const [webhook] = await sql`select status, failing_since, last_error from event_webhooks
    where application_id = ${application_id}`;
  expect(webhook).toEqual({ status: 'active', failing_since: null, last_error: 'does_not_open' });
  await giveAddress(sql, application_id, attacker.url);
  expect(await sender.deliverNow(application_id)).toMatchObject({ delivered: 1 });
});

it('a key service that fails delays events by a minute, and not those of an address that was set meanwhile', async () => {
  const { sql } = database;
  const { url } = await aReceiver();
  const { application_id } = await withEvents(sql, url);
  const failing = (before: () => Promise<unknown>): KeyRing => ({
    ...testKeys,
    records: testKeys.records.map((provider) => ({
      ...provider,
      unwrap: async () => {
        await before();
        throw new KeyError('key_service', 'It does not answer.');
      },
    })),
  });
  const deliver = (before: () => Promise<unknown>) =>
    keyErrorOf(() => aSender(sql, { keys: failing(before) }).deliverNow(application_id));
  const find = async () => {
    const [row] = await sql<{ wait_s: number; last_error: string | null }[]>`
      select extract(epoch from next_attempt_at - now())::float8 as wait_s, last_error from event_webhooks
      where application_id = ${application_id}`;
    return row ?? { wait_s: Number.NaN, last_error: null };
  };
  expect((await deliver(async () => {})).code).toBe('key_service');
  const { wait_s, last_error } = await find();
  expect(last_error).toBe('key_service');
  expect(wait_s).toBeLessThanOrEqual(60);
  await sql`update event_webhooks set next_attempt_at = now() where application_id = ${application_id}`;
  await deliver(() => giveAddress(sql, application_id, url));
  expect(await find()).toMatchObject({ last_error: null });
  expect(await aSender(sql).deliverNow(application_id)).toMatchObject({ delivered: 1 });
});

it('kyc reseal wraps the secrets by the new key', async () => {
  const { sql } = database;
  const { url } = await aReceiver();
  const { application_id, secret } = await withEvents(sql, url);
  const next = ringOf(['k2']);
  const keys = {
    records: [...next.records, ...testKeys.records],
    tokens: [...next.tokens, ...testKeys.tokens],
  };
  // Rows that other tests sealed with other keys stay as they are.
  await reseal(sql, keys, { signal: new AbortController().signal });
  const address = await findSendingAddress(sql, application_id);
  if (address === undefined) throw new Error('no address');
  expect(await openEventSecrets(next, address)).toEqual([secret]);
});
