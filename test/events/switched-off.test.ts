import { expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { requestDeliveries } from '#db/queries/event-deliveries.ts';
import { deleteEventWebhook, findEventWebhook } from '#db/queries/event-webhooks.ts';
import { retryEvents } from '#src/operations/events.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { readDeliveries } from '#test/events/deliveries.ts';
import { runCli } from '#test/support/cli.ts';
import { aReceiver, aSender, passTime, withEvents } from '#test/support/events.ts';
import { KIM } from '#test/support/factories.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const deliveries = (application_id: string) => readDeliveries(database.sql, application_id);
const webhook = (application_id: string) => findEventWebhook(database.sql, application_id);

it('an address that fails for three days is switched off and says so; a retry switches it on', async () => {
  const { sql } = database;
  let isDown = true;
  const { url } = await aReceiver((response) => response.writeHead(isDown ? 500 : 200).end());
  const { application_id, games } = await withEvents(sql, url, 2);
  const sender = aSender(sql);
  const game_id = games[0]?.game_id ?? '';
  for (let hours = 0; hours < 72; hours += 12) {
    await sender.deliverNow(application_id);
    expect((await webhook(application_id))?.status).toBe('active');
    await passTime(sql, application_id, '12 hours');
    // Another decision, another event.
    await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'rights', text: `Day ${hours}.` });
  }
  await sender.deliverNow(application_id);
  expect(await webhook(application_id)).toMatchObject({
    status: 'off',
    off_reason: 'The address has failed for three days.',
  });
  expect((await deliveries(application_id)).every(({ state }) => state === 'failed')).toBe(true);
  expect(await listAudit(sql, { subject: `application:${application_id}`, limit: 1 })).toMatchObject([
    { action: 'event_webhook.off', actor_kind: 'system', reason: 'The address has failed for three days.' },
  ]);
  const { entries } = await readTimeline(sql, application_id, games[0]?.application_game_id ?? '');
  const said = entries.filter(({ kind }) => kind === 'event_failed').map(({ text }) => text);
  expect(said.length).toBeGreaterThan(1);
  for (const text of said)
    expect(text).toMatch(/did not reach the application\. (HTTP 500|The address was switched off)\.$/);
  // Events go on; none is sent.
  await decideGame(sql, { game_id, audit_status: 'passed' });
  expect(await deliveries(application_id)).toHaveLength(8);
  isDown = false;
  expect(await operateAs(sql, KIM, retryEvents, { application_id })).toMatchObject({
    events: 9,
    switched_on: true,
  });
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 9, failed: 0 });
});

it('two failures with days between them do not switch an address off', async () => {
  const { sql } = database;
  const { url } = await aReceiver((response) => response.writeHead(500).end());
  const { application_id, games } = await withEvents(sql, url);
  const sender = aSender(sql);
  await sender.deliverNow(application_id);
  await passTime(sql, application_id, '5 days');
  await decideGame(sql, { game_id: games[0]?.game_id ?? '', audit_status: 'rejected', reason: 'rights' });
  await sender.deliverNow(application_id);
  expect((await webhook(application_id))?.status).toBe('active');
});

it('410 switches the address off at once', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver((response) => response.writeHead(410).end());
  const { application_id } = await withEvents(sql, url, 6);
  await aSender(sql).deliverNow(application_id);
  expect(received.length).toBeLessThan(6);
  expect(await webhook(application_id)).toMatchObject({
    status: 'off',
    off_reason: 'The address answered 410 Gone.',
  });
  // An address in its place says how many events did not arrive, which nothing sends by itself.
  const missed = (await deliveries(application_id)).filter(({ state }) => state === 'failed').length;
  const update = ['app', 'update', application_id, '--events-webhook', url];
  const set = await runCli(update, { ...asOperator(database.databaseUrl), WEBHOOK_ALLOW_HTTP: 'true' });
  expect(set.stdout).toContain(
    `Events that were not delivered: ${missed}. event retry --application ${application_id} sends them.\n`,
  );
});

it('an event that is requested while a transaction removes the address ends with it', async () => {
  const { sql } = database;
  const { application_id } = await withEvents(sql, (await aReceiver()).url);
  await sql.begin(async (tx) => {
    await tx`select now()`;
    await requestDeliveries(sql, application_id, { since: new Date(0) });
    await deleteEventWebhook(tx, application_id);
  });
  expect(await deliveries(application_id)).toMatchObject([
    { state: 'failed', last_error: 'address_removed' },
  ]);
});
