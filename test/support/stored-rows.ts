import type { Queryable } from '#db/client.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import type { RunRow } from '#db/queries/runs.ts';

type Filter = { application_id?: string; limit: number };

/** The stored failures, latest first. */
export const listFailures = (sql: Queryable, { application_id, limit }: Filter) =>
  sql<FailureRow[]>`
    select * from ingest_failures
    where ${application_id === undefined ? sql`true` : sql`application_id = ${application_id}`}
    order by last_at desc, application_id, operation, application_game_id
    limit ${limit}`;

/** The stored runs, latest first. */
export const listRuns = (sql: Queryable, { application_id, limit }: Filter) =>
  sql<RunRow[]>`
    select * from sync_runs
    where ${application_id === undefined ? sql`true` : sql`application_id = ${application_id}`}
    order by run_id desc limit ${limit}`;
