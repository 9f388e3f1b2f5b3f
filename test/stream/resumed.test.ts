import { expect, it } from 'vitest';
import { pruneStream } from '#db/queries/stream.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { resumeSubscription, subscribe } from '#src/operations/subscriptions.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('a subscription that began before the first event is resumed as long as none of its events is deleted', async () => {
  const { sql } = database;
  const given = { url: 'https://catalogue.example/events', types: [] };
  const { subscription_id } = await operateAs(sql, KIM, subscribe, given);
  expect(await sql`select position from event_subscriptions`).toEqual([{ position: 0 }]);
  const resume = async () => {
    await sql`update event_subscriptions set status = 'off'`;
    return operateAs(sql, KIM, resumeSubscription, { subscription_id });
  };
  expect(await resume()).toMatchObject({ waiting: 0 });
  for (const application_id of ['first', 'second', 'third']) await addApplication(sql, application_id);
  await placeEvents(sql, 'stream_events');
  expect(await resume()).toMatchObject({ waiting: 3 });
  await sql`update stream_events set created_at = now() - interval '91 days'`;
  expect(await pruneStream(sql, 90 * 86_400_000, 100)).toBe(2);
  await expect(resume()).rejects.toThrow('deleted by now');
  await sql`update event_subscriptions set position = (select max(position) from stream_events)`;
  expect(await resume()).toMatchObject({ waiting: 0 });
});
