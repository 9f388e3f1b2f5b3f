import { expect, it } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { listEventPage } from '#db/queries/event-list.ts';
import { pruneEvents } from '#db/queries/events.ts';
import { onlyValue } from '#db/rows.ts';
import { addApplication } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Counts the rows of `events` that a transaction has read. */
const rowsRead = (tx: Queryable): Promise<number> =>
  onlyValue(tx<{ rows: number }[]>`
    select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as rows
    from pg_stat_xact_user_tables where relname = 'events'`);

it("a page of an application's old events is read without the newer events of others", async () => {
  const { sql } = database;
  /** Adds events, one a second from `from`; every second one waits for its delivery. */
  const addEvents = async (application_id: string, from: number, count: number): Promise<void> => {
    await addApplication(sql, application_id);
    await sql`
      insert into event_webhooks (application_id, url, secret, secret_keys)
      values (${application_id}, 'https://receiver.example/', '', '[]')`;
    await sql`
      with added as (
        insert into events (event_id, application_id, type, game_id, data, created_at, position)
        select (lpad(to_hex(1780000000000 + i * 1000::bigint), 12, '0') || '7000' || '8000' || lpad('', 12, '0'))::uuid,
          ${application_id}, 'game.passed', gen_random_uuid(), '{}', to_timestamp(1780000000 + i), i
        from generate_series(${from}::int, ${from + count - 1}::int) as i returning event_id, application_id)
      insert into event_deliveries (event_id, application_id)
      select event_id, application_id from added where get_byte(uuid_send(event_id), 5) % 16 = 0`;
  };
  await addEvents('quiet', 0, 5_000);
  await addEvents('busy', 5_000, 20_000);
  await sql`vacuum analyze events`;
  await sql`vacuum analyze event_deliveries`;

  await sql.begin(async (tx) => {
    let after: readonly [string, string] | undefined;
    // More often than it takes for Postgres to weigh one plan for all parameters.
    for (let round = 0; round < 8; round += 1) {
      const readBefore = await rowsRead(tx);
      const place = { sort: 'created_at', descending: true, limit: 20, after, uncounted: true } as const;
      const { rows, next } = await listEventPage(tx, { application_id: 'quiet' }, place);
      expect(rows).toHaveLength(20);
      expect((await rowsRead(tx)) - readBefore).toBeLessThan(100);
      after = next;
    }
  });
});

it('each call of prune reads as many events as it deletes, however many are old, and none of those that stay', async () => {
  const { sql } = database;
  const applications = ['x-1', 'x-2', 'x-3'];
  for (const application_id of applications) await addApplication(sql, application_id);
  // The ids of the first 2,000 of each are of 2024, those of 3,000 others of 2096.
  await sql`
    insert into events (event_id, application_id, type, game_id, data, created_at, position)
    select (case when i <= 6000 then '01901000' else '03a01000' end || lpad(to_hex(i), 4, '0') || '70008000' || repeat('0', 12))::uuid,
      (${applications}::text[])[1 + i % 3], 'game.passed', gen_random_uuid(), '{}', now(), 100000 + i
    from generate_series(1, 15000) as i`;
  await sql`vacuum analyze events`;
  await sql.begin(async (tx) => {
    let deleted = 0;
    for (let after: string | undefined = 'x-1'; after !== undefined; ) {
      const before = await rowsRead(tx);
      const batch = await pruneEvents(tx, 90 * 86_400_000, 500, after);
      expect((await rowsRead(tx)) - before).toBeLessThan(2_000);
      deleted += batch.deleted;
      after = batch.last;
    }
    // The last old event of each stays.
    expect(deleted).toBe(6_000 - 3);
  });
});
