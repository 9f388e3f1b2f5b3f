import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { ingestFailures } from '#db/schema/failures.ts';
import type { Reason } from '#src/contract/reasons.ts';
import type { Operation } from '#src/contract/words.ts';

export type FailureRow = InferSelectModel<typeof ingestFailures>;
/** One failure. `application_game_id` is `NO_GAME` if the failure names no game. */
export type Failure = { application_game_id: string; kind: string; reasons: Reason[] };

/**
 * Record failures: a new failure adds a row, a repeated one increments `count`. Rows are written in the order of their
 * game ids, so that batches that share games do not deadlock.
 */
export const recordFailures = async (
  sql: Queryable,
  application_id: string,
  operation: Operation,
  failures: readonly Failure[],
): Promise<void> => {
  if (failures.length === 0) return;
  // ON CONFLICT cannot update one row twice: only the last failure of each game is recorded.
  const latest = [...new Map(failures.map((failure) => [failure.application_game_id, failure])).values()];
  await sql`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    select ${application_id}, ${operation}, f.id, f.kind, f.reasons::jsonb
    from unnest(
      ${latest.map((failure) => failure.application_game_id)}::text[],
      ${latest.map((failure) => failure.kind)}::text[],
      ${latest.map((failure) => JSON.stringify(failure.reasons))}::text[]
    ) as f(id, kind, reasons)
    order by f.id
    on conflict (application_id, operation, application_game_id) do update
      set kind = excluded.kind, reasons = excluded.reasons, last_at = now(),
          count = ingest_failures.count + 1`;
};

/** Delete the failures of these games. */
export const clearFailures = async (
  sql: Queryable,
  application_id: string,
  operation: Operation,
  application_game_ids: readonly string[],
): Promise<void> => {
  if (application_game_ids.length === 0) return;
  // Each game is looked up separately (`lateral`): otherwise Postgres may read all failures of the application.
  await sql`
    delete from ingest_failures
    where ctid = any(array(
      select known.place
      from unnest(${application_game_ids as string[]}::text[]) as game(id) cross join lateral (
        select ctid as place from ingest_failures
        where application_id = ${application_id} and operation = ${operation} and application_game_id = game.id
        limit 1
      ) as known))`;
};

export const listFailures = (
  sql: Queryable,
  filter: { application_id?: string; limit: number },
): Promise<FailureRow[]> =>
  sql<FailureRow[]>`
    select * from ingest_failures
    where ${filter.application_id === undefined ? sql`true` : sql`application_id = ${filter.application_id}`}
    order by last_at desc, application_id, operation, application_game_id
    limit ${filter.limit}`;

/** Games with a failure: `failure retry` fetches their details. */
export const listFailedGameIds = async (sql: Queryable, application_id: string): Promise<string[]> => {
  const rows = await sql<{ application_game_id: string }[]>`
    select distinct application_game_id from ingest_failures
    where application_id = ${application_id} and application_game_id <> ''
      and operation in ('query_game_list', 'query_game_detail')
    order by application_game_id`;
  return rows.map((row) => row.application_game_id);
};
