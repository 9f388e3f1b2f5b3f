/** The platform's stream: the events of all applications, in the order of their positions. */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { countRows, onlyRow } from '#db/rows.ts';
import type { EventData } from '#db/schema/events.ts';
import type { streamEvents } from '#db/schema/stream.ts';
import type { StreamType } from '#src/contract/words.ts';

type StreamRow = InferSelectModel<typeof streamEvents>;

/** An event of the stream. `data`: what its application receives, if it receives the event. */
export type StreamEvent = Pick<StreamRow, 'type' | 'facts' | 'created_at'> & {
  event_id: string;
  application_id: string;
  game_id: string | null;
  revision: number | null;
  position: number;
  data: EventData | null;
  application_game_id: string | null;
};

/**
 * The id of an event `p` that only the stream has: a UUID v8 of its time and its position. A position returns for another event
 * after a failover to a replica that lacks the last commits, and receivers ignore an id that they know.
 */
const eventIdOf = (sql: Queryable) =>
  sql`(lpad(to_hex((extract(epoch from p.created_at) * 1000)::bigint), 12, '0') || '80008000'
       || lpad(to_hex(p.position), 12, '0'))::uuid`;

/** One read compares at most this many rows with the types. */
const COMPARED_MAX = 2_000;

export type StreamPage = {
  list: StreamEvent[];
  /** Where the next read continues; the position that was given if there is nothing new. */
  next: number;
};

/**
 * Reads events after a position. With types, one read compares a bounded number of rows, so `list` may be shorter than
 * `limit`, or empty, while `next` moves on.
 */
export const readStream = async (
  sql: Queryable,
  { after, limit, types = [] }: { after: number; limit: number; types?: readonly StreamType[] | undefined },
): Promise<StreamPage> => {
  const rows = await sql<(StreamEvent & { last: number | null })[]>`
    with compared as materialized (
      select * from stream_events where position > ${after}
      order by position limit ${types.length === 0 ? limit : COMPARED_MAX}
    ), matching as (
      select *, least(size, position - ${after}) as unread from compared
      where ${types.length === 0} or type = any(${types as string[]}::text[]) order by position limit ${limit}
    ), wanted as (
      -- The rows that have the first events of the page: a row may have a thousand.
      select *, sum(unread) over (order by position) - unread as before from matching
    ), page as materialized (
      select w.event_id, w.type, w.application_id, w.facts, w.created_at, e.game_id, e.revision,
             w.position - w.size + coalesce(e.place, 1) as position
      from wanted w
        left join lateral unnest(w.game_ids, w.revisions) with ordinality as e (game_id, revision, place) on true
      where w.before < ${limit} and w.position - w.size + coalesce(e.place, 1) > ${after}
      order by position limit ${limit}
    )
    select s.last, p.position, coalesce(p.event_id, ${eventIdOf(sql)}) as event_id, p.type,
           coalesce(p.application_id, g.application_id) as application_id, p.game_id, p.revision, p.facts, p.created_at,
           e.data, g.application_game_id
    from (select max(position) as last from compared) s left join page p on true
      left join lateral (select data from events where event_id = p.event_id limit 1) e on true
      left join lateral (select application_id, application_game_id from games where game_id = p.game_id limit 1) g on true
    order by p.position`;
  const list = rows.filter((row) => row.position !== null).map(({ last: _, ...event }) => event);
  const last = list.length === limit ? list.at(-1)?.position : rows[0]?.last;
  return { list, next: last ?? after };
};

/** The first and the last position of the stream; null if it has no event. */
export const findStreamEnds = (sql: Queryable) =>
  onlyRow(sql<{ first: number | null; last: number | null }[]>`
    select (select position - size + 1 from stream_events order by position limit 1) as first,
           max(position) as last
    from stream_events`);

/**
 * Deletes rows older than `keepMs`. The last of them stays, because a reader who stopped there has missed nothing.
 * @returns how many were deleted
 */
export const pruneStream = (sql: Queryable, keepMs: number, limit: number) =>
  countRows(sql`
    with oldest as (
      select position, created_at from stream_events where position is not null order by position limit ${limit + 1}
    )
    delete from stream_events s where position in (
      select position from oldest
      where position < (select max(position) from oldest where created_at < now() - ${keepMs} * interval '1 millisecond'))`);
