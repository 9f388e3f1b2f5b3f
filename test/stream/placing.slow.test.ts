// Events get their positions in linear time, also by statistics of a log in which no row waits.
import { expect, it } from 'vitest';
import { type EventLog, insertPositions } from '#db/queries/events.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const FEW = 500;
const MANY = 16 * FEW;
const ROUNDS = 3;

const database = useTestDatabase();

const addRows = {
  events: (rows: number) => database.sql`
    insert into events (event_id, application_id, type, game_id, data, created_at)
    select gen_random_uuid(), 'a', 'game.pending', gen_random_uuid(), '{}', now() from generate_series(1, ${rows}::int)`,
  stream_events: (rows: number) => database.sql`
    insert into stream_events (type, game_ids, revisions)
    select 'game.received', array[gen_random_uuid()], array[1] from generate_series(1, ${rows}::int)`,
} satisfies Record<EventLog, unknown>;

it.for(['events', 'stream_events'] as const)(
  'the time of %s grows as the number of rows, not as its square',
  async (log) => {
    const { sql } = database;
    const place = async (rows: number): Promise<number> => {
      await sql`analyze ${sql(log)}`;
      await addRows[log](rows);
      const begin = performance.now();
      expect(await insertPositions(sql, log, rows)).toBe(rows);
      return performance.now() - begin;
    };
    await place(MANY);
    const few: number[] = [];
    const many: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      few.push(await place(FEW));
      many.push(await place(MANY));
    }
    // 16 is linear, 256 is the square.
    expect(Math.min(...many) / Math.min(...few)).toBeLessThan(64);
  },
);
