// An address that is replaced while an event is on its way to the former one.
import { expect, it } from 'vitest';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { aReceiver, aSender, giveAddress, withEvents } from '#test/support/events.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it.each([
  ['answers', 204],
  ['fails', 500],
  ['is gone', 410],
])('what the former one %s says nothing of the new one', async (_, status) => {
  const { sql } = database;
  let replace = async () => {};
  const former = await aReceiver((response) => {
    void replace().then(() => response.writeHead(status).end());
  });
  const { application_id } = await withEvents(sql, former.url);
  const next = await aReceiver();
  replace = async () => void (await giveAddress(sql, application_id, next.url));
  await aSender(sql).deliverNow(application_id);
  expect(former.received).toHaveLength(1);
  expect(await findEventWebhook(sql, application_id)).toMatchObject({
    url: next.url,
    status: 'active',
    failures: 0,
    last_error: null,
    last_attempt_at: null,
    last_success_at: null,
  });
});
