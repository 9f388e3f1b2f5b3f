import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import type { HttpPostOptions } from '#src/egress/post.ts';
import { createEventSender, type EventSender } from '#src/events/deliver.ts';
import { changeApplication } from '#src/operations/applications.ts';
import { engineOperations } from '#src/operations/engine-operations.ts';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { addApplication, fetchedGame, KIM, testKeys } from '#test/support/factories.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { aServer, loopback } from '#test/support/webhooks.ts';

export type Received = { headers: IncomingHttpHeaders; body: string };

/** A receiver of events. `respond` answers a request: 204 by default. */
export const aReceiver = async (
  respond: (response: ServerResponse, received: Received) => void = (response) =>
    response.writeHead(204).end(),
) => {
  const received: Received[] = [];
  const server = await aServer(async (request, response) => {
    const one = { headers: request.headers, body: await text(request) };
    received.push(one);
    respond(response, one);
  });
  return { received, url: `${server.url}/events`, server };
};

/** A sender in this process. */
export const aSender = (
  sql: Database,
  { keys = testKeys, ...options }: Partial<HttpPostOptions> & { keys?: KeyRing } = {},
): EventSender & {
  deliverNow: (application_id: string) => Promise<{ delivered: number; failed: number }>;
} => {
  const http = createHttpPost({ egress: loopback, ...options });
  onTestFinished(() => http.close());
  const sender = createEventSender({
    sql,
    keys,
    http,
    formatAuditTime: createAuditTimeFormatter('UTC'),
    ...engineOperations,
  });
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  return { ...sender, deliverNow: (application_id) => sender.deliver({ application_id }, signal, log) };
};

/** Sets where the events of an application go. @returns the secret */
export const giveAddress = async (sql: Database, application_id: string, url: string): Promise<string> => {
  const { secret = '' } = await operateAs(sql, KIM, changeApplication, {
    application_id,
    events_webhook: url,
  });
  return secret;
};

let names = 0;
/** An application with an address and this many events: games that were passed. */
export const withEvents = async (sql: Database, url: string, count = 1) => {
  names += 1;
  const application_id = `hears-${names}`;
  await addApplication(sql, application_id);
  const secret = await giveAddress(sql, application_id, url);
  const games = Array.from({ length: count }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
  await upsertGames(sql, application_id, games);
  for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  return { application_id, secret, games };
};

/** Lets time pass for the address and the deliveries of an application. */
export const passTime = async (sql: Database, application_id: string, interval: string): Promise<void> => {
  await sql`
    update event_deliveries
    set next_attempt_at = next_attempt_at - ${interval}::interval, requested_at = requested_at - ${interval}::interval,
        last_attempt_at = last_attempt_at - ${interval}::interval
    where application_id = ${application_id}`;
  await sql`
    update event_webhooks
    set next_attempt_at = next_attempt_at - ${interval}::interval, failing_since = failing_since - ${interval}::interval,
        last_attempt_at = last_attempt_at - ${interval}::interval, former_until = former_until - ${interval}::interval
    where application_id = ${application_id}`;
};

/** Verifies a delivery with nothing but node:crypto, as docs/application-developers.md shows it. */
export const isGenuine = ({ headers, body }: Received, secret: string): boolean => {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers;
  if (Math.abs(Date.now() / 1_000 - Number(at)) > 300) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest();
  return String(signatures)
    .split(' ')
    .map((each) => Buffer.from(each.replace('v1,', ''), 'base64'))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected));
};
