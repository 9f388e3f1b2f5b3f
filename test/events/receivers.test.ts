import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { claimDeliveries } from '#db/queries/event-deliveries.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { retryEvents } from '#src/operations/events.ts';
import { readDeliveries } from '#test/events/deliveries.ts';
import { runCli, startCli } from '#test/support/cli.ts';
import { aReceiver, aSender, passTime, withEvents } from '#test/support/events.ts';
import { KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { CERTIFICATE, KEY } from '#test/support/self-signed.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const deliveries = (application_id: string) => readDeliveries(database.sql, application_id);
const delivery = async (application_id: string) => (await deliveries(application_id))[0];
const webhook = (application_id: string) => findEventWebhook(database.sql, application_id);

it('a receiver that is down for an hour gets every event, with the same webhook-id at each attempt', async () => {
  const { sql } = database;
  let isDown = true;
  const { received, url } = await aReceiver((response) =>
    response.writeHead(isDown ? 500 : 200).end('x'.repeat(100_000)),
  );
  const { application_id, games } = await withEvents(sql, url, 3);
  const sender = aSender(sql);
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 3 });
  expect(await delivery(application_id)).toMatchObject({ state: 'pending', attempts: 1, last_status: 500 });
  // It waits now.
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await passTime(sql, application_id, '10 minutes');
    // One event at a time probes it.
    expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 1 });
  }
  expect((await webhook(application_id))?.failing_since).toEqual(expect.any(Date));
  isDown = false;
  await passTime(sql, application_id, '1 hour');
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 3, failed: 0 });
  const ids = Map.groupBy(received, ({ headers }) => headers['webhook-id']);
  expect(ids.size).toBe(games.length);
  for (const attempts of ids.values()) expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
  expect(await webhook(application_id)).toMatchObject({ failures: 0, failing_since: null, last_error: null });
});

it('a proxy of the platform that fails is no failure of an address: its events wait', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver();
  const { application_id } = await withEvents(sql, url, 2);
  const proxied = createEgressPolicy({
    allowHttp: true,
    allowNetworks: ['127.0.0.0/8'],
    proxy: 'http://127.0.0.1:9',
  });
  expect(await aSender(sql, { egress: proxied }).deliverNow(application_id)).toEqual({
    delivered: 0,
    failed: 0,
  });
  expect(await webhook(application_id)).toMatchObject({
    failures: 0,
    failing_since: null,
    last_error: 'proxy_failed',
  });
  expect(await delivery(application_id)).toMatchObject({ state: 'pending', attempts: 0 });
  const { stdout } = await runCli(['app', 'show', application_id], asOperator(database.databaseUrl));
  expect(stdout).toContain('proxy_failed');
  const sender = aSender(sql);
  expect(await sender.deliverNow(application_id), 'it waits').toEqual({ delivered: 0, failed: 0 });
  await passTime(sql, application_id, '1 minute');
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 2, failed: 0 });
  expect(received).toHaveLength(2);
});

it('the waits grow for 24 hours; then the event has failed, and event retry sends it again', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver((response) => response.writeHead(503).end());
  const { application_id } = await withEvents(sql, url);
  const sender = aSender(sql);
  const waits: number[] = [];
  for (;;) {
    expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 1 });
    const now = await delivery(application_id);
    if (now?.state === 'failed') break;
    waits.push(now?.wait_s ?? 0);
    // The next attempt, also of the address.
    await passTime(sql, application_id, `${Math.max(waits.at(-1) ?? 0, 900) + 1} seconds`);
  }
  const rounded = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600];
  for (const [index, wait] of rounded.entries())
    expect(Math.abs((waits[index] ?? 0) / wait - 1)).toBeLessThan(0.21);
  expect(received.length).toBeGreaterThan(10);
  expect(received.length).toBeLessThan(14);
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
  expect(await operateAs(sql, KIM, retryEvents, { application_id })).toMatchObject({
    events: 1,
    switched_on: false,
  });
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 1 });
  expect(await delivery(application_id)).toMatchObject({ state: 'pending', attempts: 1 });
});

it.each([
  ['of one event', (_id: string, event_id: string) => [event_id]],
  ['of an application', (id: string) => ['--application', id]],
])('event retry %s sends a pending event now, although its address failed', async (_what, args) => {
  const { sql, databaseUrl } = database;
  let isDown = true;
  const { url } = await aReceiver((response) =>
    response.writeHead(isDown ? 503 : 200, { 'retry-after': '600' }).end(),
  );
  const { application_id } = await withEvents(sql, url, 2);
  const sender = aSender(sql);
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 2 });
  isDown = false;
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
  const [event] = await sql`select event_id from events where application_id = ${application_id}`;
  const retry = ['event', 'retry', ...args(application_id, event?.event_id)];
  const { exit, stdout } = await runCli(retry, asOperator(databaseUrl));
  const [one, all] = [
    '1 event is sent now.\n',
    `2 events are sent now.\nThe address of ${application_id} failed 1 time (HTTP 503): one event is sent first, the others follow when it is delivered.\n`,
  ];
  const isOne = !retry.includes('--application');
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: isOne ? one : all });
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: isOne ? 1 : 2, failed: 0 });
  const again = await runCli(['event', 'retry', '--application', application_id], asOperator(databaseUrl));
  expect(again.stdout).toBe(isOne ? one : 'Every event since the first address was set is delivered.\n');
});

it('event retry --since takes the time of this machine, and says that there is no event since then', async () => {
  const { sql, databaseUrl } = database;
  const { application_id } = await withEvents(sql, 'http://127.0.0.1:9/', 2);
  await sql`
    update events set created_at = '2026-01-01T00:30:00+08' where application_id = ${application_id}`;
  const env = { ...asOperator(databaseUrl), TZ: 'Asia/Shanghai' };
  const retry = (since: string) =>
    startCli(['event', 'retry', '--application', application_id, '--since', since], env).done;
  expect((await retry('2026-01-01')).stdout).toBe('2 events are sent now.\n');
  expect((await retry('2026-01-01T00:31')).stdout).toBe('There is no event since then.\n');
});

it('Retry-After delays the address', async () => {
  const { sql } = database;
  const { url } = await aReceiver((response) => response.writeHead(429, { 'retry-after': '600' }).end());
  const { application_id } = await withEvents(sql, url);
  const sender = aSender(sql);
  await sender.deliverNow(application_id);
  expect((await delivery(application_id))?.wait_s).toBeGreaterThan(590);
  await passTime(sql, application_id, '5 minutes');
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
});

it('no redirect is followed, no private address is called, no invalid certificate is accepted, none is waited for', async () => {
  const { sql } = database;
  const other = await aReceiver();
  const redirect = await aReceiver((response) => response.writeHead(308, { location: other.url }).end());
  const silent = await aReceiver(() => {});
  const secure = createServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => response.end());
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  onTestFinished(() => void secure.close());
  const { port } = secure.address() as AddressInfo;
  const failing: [string, string, Parameters<typeof aSender>[1]][] = [
    [redirect.url, 'redirect', {}],
    [silent.url, 'timeout', { callTimeoutMs: 50 }],
    [`https://127.0.0.1:${port}/events`, 'tls_failed', {}],
    [other.url, 'forbidden_address', { egress: createEgressPolicy({ allowHttp: true, allowNetworks: [] }) }],
    ['http://127.0.0.1:9/events', 'connect_failed', {}],
  ];
  for (const [url, code, options] of failing) {
    const { application_id } = await withEvents(sql, url);
    expect(await aSender(sql, options).deliverNow(application_id)).toEqual({ delivered: 0, failed: 1 });
    expect(await delivery(application_id)).toMatchObject({ state: 'pending', last_error: code });
    expect((await webhook(application_id))?.last_error).toMatch(new RegExp(`${code}|HTTP 308`));
  }
  expect(other.received).toEqual([]);
});

it('an event that only one receiver refuses does not hold the others up', async () => {
  const { sql } = database;
  const { url } = await aReceiver((response, { body }) =>
    response.writeHead(body.includes('"g-1"') ? 500 : 200).end(),
  );
  const { application_id } = await withEvents(sql, url, 12);
  expect(await aSender(sql).deliverNow(application_id)).toEqual({ delivered: 11, failed: 1 });
  expect(await webhook(application_id)).toMatchObject({ status: 'active' });
});

it('an event whose worker is killed after the claim is sent again by another one', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver();
  const { application_id } = await withEvents(sql, url);
  const [claimed] = await claimDeliveries(sql, application_id, 4, 60_000);
  const sender = aSender(sql);
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 0, failed: 0 });
  await passTime(sql, application_id, '61 seconds');
  expect(await sender.deliverNow(application_id)).toEqual({ delivered: 1, failed: 0 });
  expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([claimed?.event_id]);
});

it('an event of another application is not sent again under the name of this one', async () => {
  const { sql } = database;
  const { url } = await aReceiver();
  const [own, other] = [await withEvents(sql, url), await withEvents(sql, url)];
  await aSender(sql).deliverNow(other.application_id);
  const [event] = await sql<{ event_id: string }[]>`
    select event_id from events where application_id = ${other.application_id}`;
  const given = { application_id: own.application_id, event_ids: [event?.event_id ?? ''] };
  expect(await operateAs(sql, KIM, retryEvents, given)).toMatchObject({ events: 0 });
  expect(await delivery(other.application_id)).toMatchObject({ state: 'delivered', attempts: 1 });
  expect(
    await listAudit(sql, { action: 'event.retry', subject: `application:${own.application_id}`, limit: 9 }),
  ).toEqual([]);
});
