import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { tick } from '#src/ingest/specs.ts';
import { explainOtherQueue, queueList } from '#src/lists/queues.ts';
import { readFirst } from '#src/lists/read.ts';
import { addTestOperator, signIn, startTestConsole } from '#test/support/console.ts';
import { startTestFleet } from '#test/support/fleet.ts';

test('a queue without ticks, while workers run, is another one than theirs', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const { sql, producer } = fleet;
  const explain = async () =>
    explainOtherQueue(sql, await readFirst(queueList, { sql, producer: async () => producer }, {}, 100));
  await fleet.addApplication('acme', 1);
  expect(await explain()).toBeUndefined();
  await sql`update applications set updated_at = now() - interval '3 minutes'`;
  expect(await explain()).toBeUndefined();
  await recordHeartbeat(sql, { worker_id: randomUUID(), host: 'host', pid: 1 });
  expect(await explain()).toMatch(/^Workers run, and this queue has no tick .* REDIS_URL or QUEUE_PREFIX /);
  // A console whose prefix is another one.
  const site = await startTestConsole(fleet);
  stack.defer(site.stop);
  await addTestOperator(sql, 'vera', 'viewer');
  const cookie = await signIn(site.url, 'vera');
  const page = await fetch(new URL('/queues', site.url), { headers: { cookie } });
  expect(await page.text()).toContain('REDIS_URL or QUEUE_PREFIX of this process');
  await producer.add(tick, { application_id: 'acme', schedule: 'games' as const }, { delayMs: 60_000 });
  expect(await explain()).toBeUndefined();
});
