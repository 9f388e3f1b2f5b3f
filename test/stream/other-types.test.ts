import { pino } from 'pino';
import { expect, it } from 'vitest';
import { onlyValue } from '#db/rows.ts';
import { subscribe } from '#src/operations/subscriptions.ts';
import { aReceiver, aSender } from '#test/support/events.ts';
import { KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();

it('a job that stops among many events of other types keeps the place that it reached', async () => {
  const { sql } = database;
  const { received, url } = await aReceiver();
  const given = { url, types: ['kyc.verdict' as const] };
  const { subscription_id } = await operateAs(sql, KIM, subscribe, given);
  await sql`
    insert into stream_events (type, application_id, position)
    select 'kyc.changed', 'app', nextval('stream_positions') from generate_series(1, 100000)`;
  const last = await onlyValue(sql<{ last: number }[]>`select max(position) as last from stream_events`);
  const place = () => onlyValue(sql<{ position: number }[]>`select position from event_subscriptions`);
  const stop = new AbortController();
  const deliver = () => aSender(sql).deliver({ subscription_id }, stop.signal, pino({ level: 'silent' }));
  const job = deliver();
  await until('the place moves', async () => (await place()) > 0);
  stop.abort();
  await job;
  expect(await place()).toBeLessThan(last);
  expect(received).toEqual([]);
});
