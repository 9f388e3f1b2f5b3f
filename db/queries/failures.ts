import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { countRows, readColumn } from '#db/rows.ts';
import type { ingestFailures } from '#db/schema/failures.ts';
import { OWN_KINDS } from '#src/contract/failure-words.ts';
import type { Reason } from '#src/contract/text.ts';
import { NO_GAME, type Operation } from '#src/contract/words.ts';
import { COUNTED_MAX, STORAGE } from '#src/rules/budgets.ts';
import { UNNAMED_REASONS_MAX } from '#src/rules/listing.ts';

export type FailureRow = InferSelectModel<typeof ingestFailures>;
/** One failure. `application_game_id` is `NO_GAME` if the failure names no game. */
export type Failure = {
  application_game_id: string;
  kind: string;
  reasons: Reason[];
  /** Would a retry of the same call only repeat it? Default: no. */
  final?: boolean;
  /** Hash of the list entry whose detail failed. Default: the hash that the failure's row has already, if any. */
  list_hash?: string;
};

const KEPT = `$[0 to ${UNNAMED_REASONS_MAX - 1}]`;

/**
 * Records failures: a new failure adds a row, a repeated one increments `count`. Rows without a usable id have one failure,
 * which collects the reasons of all pages of a run. An application keeps at most
 * `STORAGE.failures` rows of an operation; further games get no row, only the counters of their run include them. Two calls
 * at a time do not see each other's rows and may exceed this; `pruneFailures` deletes the excess. Rows are written in the
 * order of their game ids, so that two calls that share games do not deadlock.
 * @param runStartedAt start of the run that reads the list; absent for details
 */
export const recordFailures = async (
  sql: Queryable,
  application_id: string,
  operation: Operation,
  failures: readonly Failure[],
  runStartedAt: Date | null = null,
): Promise<void> => {
  if (failures.length === 0) return;
  // ON CONFLICT cannot update one row twice, so only the last failure of each game is recorded.
  const latest = [...new Map(failures.map((failure) => [failure.application_game_id, failure])).values()];
  const isSameRun = sql`excluded.application_game_id = ${NO_GAME} and ingest_failures.last_at >= ${runStartedAt}::timestamptz`;
  await sql`
    with failed as (
      select f.*, exists (
          select from ingest_failures k
          where k.application_id = ${application_id} and k.operation = ${operation} and k.application_game_id = f.id
        ) as is_known
      from unnest(
        ${latest.map((failure) => failure.application_game_id)}::text[],
        ${latest.map((failure) => failure.kind)}::text[],
        ${latest.map((failure) => JSON.stringify(failure.reasons))}::text[],
        ${latest.map(({ final = false }) => String(final))}::text[],
        ${latest.map(({ list_hash = '' }) => list_hash)}::text[]
      ) as f(id, kind, reasons, final, list_hash)
    ), ranked as (
      select *, row_number() over (partition by is_known order by id) as place from failed
    )
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons, final, list_hash)
    select ${application_id}, ${operation}, id, kind, reasons::jsonb, final::boolean, list_hash
    from ranked
    where is_known or place <= ${STORAGE.failures} - (
      select count(*) from ingest_failures where application_id = ${application_id} and operation = ${operation})
    order by id
    on conflict (application_id, operation, application_game_id) do update
      set kind = excluded.kind, last_at = now(), final = excluded.final,
          reasons = case when ${isSameRun}
            then jsonb_path_query_array(ingest_failures.reasons || excluded.reasons, ${KEPT}::jsonpath)
            else excluded.reasons end,
          list_hash = coalesce(nullif(excluded.list_hash, ''), ingest_failures.list_hash),
          count = least(ingest_failures.count, ${COUNTED_MAX}) + case when ${isSameRun} then 0 else 1 end`;
};

/** Deletes the failures of these games. @param options.onlyUnlisted those of games that no list named when they failed */
export const clearFailures = async (
  sql: Queryable,
  application_id: string,
  operation: Operation,
  application_game_ids: readonly string[],
  { onlyUnlisted = false } = {},
): Promise<void> => {
  if (application_game_ids.length === 0) return;
  // Each game is looked up separately (`lateral`), because otherwise Postgres may read all failures of the application.
  await sql`
    delete from ingest_failures
    where ctid = any(array(
      select known.place
      from unnest(${application_game_ids as string[]}::text[]) as game(id) cross join lateral (
        select ctid as place from ingest_failures
        where application_id = ${application_id} and operation = ${operation} and application_game_id = game.id
          ${onlyUnlisted ? sql`and list_hash = ''` : sql``}
        limit 1
      ) as known))`;
};

/** Games with a failure: `failure retry` fetches their details. */
export const listFailedGameIds = (sql: Queryable, application_id: string) =>
  readColumn(sql<{ application_game_id: string }[]>`
    select distinct application_game_id from ingest_failures
    where application_id = ${application_id} and application_game_id <> ''
      and operation in ('query_game_list', 'query_game_detail')
    order by application_game_id`);

/**
 * Deletes failures that did not happen again for `ageMs`. Of each application and operation, deletes all but the
 * `STORAGE.failures` latest, because two batches at a time may record more.
 * @returns their number: less than `limit` when none is left
 */
export const pruneFailures = (sql: Queryable, ageMs: number, limit: number) =>
  countRows(sql`
    delete from ingest_failures where ctid = any(array(
      (select ctid from ingest_failures where last_at < now() - ${ageMs} * interval '1 millisecond'
       order by last_at limit ${limit})
      union
      (select each.place
       from (
         select application_id, operation from ingest_failures group by 1, 2 having count(*) > ${STORAGE.failures}
       ) as excess cross join lateral (
         select ctid as place from ingest_failures f
         where f.application_id = excess.application_id and f.operation = excess.operation
         order by last_at desc offset ${STORAGE.failures}
       ) as each limit ${limit})
      limit ${limit}))`);

/** Deletes the failures of an application that was removed. */
export const deleteFailuresOf = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`delete from ingest_failures where application_id = ${application_id}`;
};

/** Failures that a run recorded and that are still open, by game. */
export const listFailuresOfRun = (sql: Queryable, run_id: string, limit: number): Promise<FailureRow[]> =>
  sql<FailureRow[]>`
    select f.* from ingest_failures f join sync_runs r using (application_id)
    where r.run_id = ${run_id} and f.operation in ('query_game_list', 'query_game_detail')
      and f.last_at >= r.started_at and f.first_at <= coalesce(r.finished_at, 'infinity')
    order by f.application_game_id, f.operation limit ${limit}`;

/** More than there are kinds. A stolen worker may store another kind in each row. */
const KINDS_MAX = 200;

/**
 * Counts the open failures by operation and kind: those of calls, the faults of the latest runs, and the addresses of
 * events that a fault of the platform delays. Every process reads it for its metrics: db/table-rights.ts lists the columns.
 */
export const countFailures = (sql: Queryable) =>
  sql<{ operation: Operation | 'deliver_event'; kind: string; count: number }[]>`
    select operation, left(kind, 100) as kind, count(*)::int as count
    from (
      select operation, kind from ingest_failures
      union all
      select 'query_game_list', latest.fault
      from applications a cross join lateral (
        select fault from sync_runs r where r.application_id = a.application_id and r.finished_at is not null
        order by r.run_number desc limit 1
      ) as latest
      where a.status <> 'removed' and latest.fault is not null
      union all
      select 'deliver_event', last_error
      from (select last_error from event_webhooks union all select last_error from event_subscriptions) as addresses
      where last_error = any(${Object.keys(OWN_KINDS)})
    ) as open
    group by 1, 2 order by 3 desc limit ${KINDS_MAX}`;

/** Finds which of some games of an application have sent data that is not valid, so that it is not stored. */
export const findRefused = async (
  sql: Queryable,
  application_id: string,
  games: readonly { application_game_id: string }[],
): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ application_game_id: string }[]>`
      select application_game_id from ingest_failures
      where application_id = ${application_id} and operation = any (array['query_game_list', 'query_game_detail'])
        and application_game_id = any (${games.map((game) => game.application_game_id)}::text[])
        and kind = any (array['invalid_item', 'invalid_data'])`),
  );
