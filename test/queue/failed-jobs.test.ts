import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { queryGameList } from '#src/ingest/specs.ts';
import { queueList } from '#src/lists/queues.ts';
import { readFirst } from '#src/lists/read.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';

onBothBackends('Failed jobs', (kind) => {
  const fleet = useTestFleet(kind);

  test('the list of queues says why and when the latest failed job of a queue failed', async () => {
    const read = async () => {
      const sources = { sql: fleet.sql, producer: async () => fleet.producer };
      const rows = await readFirst(queueList, sources, {}, 100);
      return rows.find(({ name }) => name === queryGameList.name);
    };
    expect(await read()).toMatchObject({ failed: 0, last_error: null, last_failed_at: null });
    // Payloads that do not parse fail at the first attempt.
    const worker = await fleet.startWorker();
    for (const payload of [{}, { run_id: randomUUID() }]) {
      const { id } = await fleet.producer.queue(queryGameList).add('broken', payload);
      expect(await (await fleet.jobEnded(queryGameList, id)).isFailed()).toBe(true);
    }
    await worker.stop(5_000);
    const row = await read();
    expect(row).toMatchObject({ failed: 2, last_failed_at: expect.any(Date) });
    expect(row?.last_error).toMatch(/^payload does not fit query-game-list: /);
    expect(row?.last_error).not.toContain('run_id');
  });
});
