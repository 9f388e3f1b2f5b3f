import { afterEach, expect, it, vi } from 'vitest';
import { aReceiver, aSender, withEvents } from '#test/support/events.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
afterEach(() => void vi.useRealTimers());

it('a receiver has 15 seconds to answer, unless a test says otherwise', async () => {
  const silent = await aReceiver(() => {});
  const { application_id } = await withEvents(database.sql, silent.url);
  const sender = aSender(database.sql);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let ended = false;
  const sent = sender.deliverNow(application_id).finally(() => {
    ended = true;
  });
  await until('the receiver is called', () => silent.received.length === 1);
  vi.advanceTimersByTime(14_999);
  // Long enough for an answer to be recorded.
  for (let n = 0; n < 20; n += 1) await database.sql`select 1`;
  expect(ended).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await sent).toEqual({ delivered: 0, failed: 1 });
});
