import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** A turn begins at most this long from now, because `ends_at` may be far ahead after the clock was set back. */
const WAIT_MAX_MS = 60_000;

/**
 * Takes the next turn to call the details of an application, after the turns that are taken already.
 * @returns milliseconds until it begins
 */
export const takeDetailTurn = (sql: Queryable, application_id: string, durationMs: number): Promise<number> =>
  onlyValue(sql<{ wait_ms: number }[]>`
    insert into detail_turns as t (application_id, ends_at)
    values (${application_id}, clock_timestamp() + ${durationMs} * interval '1 millisecond')
    on conflict (application_id) do update
      set ends_at = greatest(least(t.ends_at, clock_timestamp() + ${WAIT_MAX_MS} * interval '1 millisecond'),
                             clock_timestamp()) + ${durationMs} * interval '1 millisecond'
    returning greatest(
      0, (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 - ${durationMs}::float8) as wait_ms`);
