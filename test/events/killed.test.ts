import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startWorkerProcess } from '#test/fleet/worker.ts';
import { aReceiver, isGenuine, passTime, withEvents } from '#test/support/events.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const ENCRYPTION_KEYS = `test:${createHash('sha256').update('the key of the tests').digest('base64')}`;
const EVENTS = 6;

test('a worker that is killed while it sends loses no event: they come again with the same webhook-id', async () => {
  await using stack = new AsyncDisposableStack();
  const fleet = await startTestFleet('postgres');
  stack.defer(fleet.stop);
  const held: ServerResponse[] = [];
  let holds = true;
  const { received, url } = await aReceiver((response) => {
    if (holds) held.push(response);
    else response.writeHead(204).end();
  });
  const { application_id, secret } = await withEvents(fleet.sql, url, EVENTS);
  const env = { DATABASE_URL: fleet.databaseUrl, ENCRYPTION_KEYS };
  const worker = stack.use(await startWorkerProcess(env));
  await until('it sends', () => held.length > 0);
  await worker.kill();
  const idsOf = (requests: typeof received) => requests.map(({ headers }) => String(headers['webhook-id']));
  const before = idsOf(received);
  holds = false;
  for (const response of held) response.destroy();

  // The killed worker's claim on its events ends.
  await passTime(fleet.sql, application_id, '2 minutes');
  stack.use(await startWorkerProcess(env));
  await until('all are delivered', async () => {
    const [row] = await fleet.sql<{ count: number }[]>`
      select count(*)::int as count from event_deliveries where state = 'delivered'`;
    return row?.count === EVENTS;
  });
  const again = idsOf(received.slice(before.length));
  expect(new Set(again).size).toBe(EVENTS);
  expect(again).toEqual(expect.arrayContaining(before));
  expect(received.every((each) => isGenuine(each, secret))).toBe(true);
});
