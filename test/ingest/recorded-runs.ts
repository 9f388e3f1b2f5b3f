import { randomUUID } from 'node:crypto';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import { findPage } from '#db/queries/run-pages.ts';
import { findRun, type RunFence } from '#db/queries/runs.ts';
import { CallError, type CallErrorCode } from '#src/egress/errors.ts';
import type { DetailResult, FailedCall } from '#src/ingest/fetch-details.ts';
import { writePageDetails } from '#src/ingest/write-details.ts';
import { aDetail, addApplication, anOpenRun, fetchedDetail, summaryOf } from '#test/support/factories.ts';
import { recordPage } from '#test/support/record-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

export const GAMES = ['g-1', 'g-2', 'g-3', 'g-4', 'g-5', 'g-6', 'g-7', 'g-8'];
export const page = (ids: readonly string[]) => ({
  total: ids.length,
  list: ids.map((game_id) => summaryOf(aDetail({ game_id }))),
});

export type Outcome = 'fetched' | 'missing' | 'invalid' | 'not retried' | 'retried';
export type Batch = { batch: DetailResult[]; notRetried: Failure[] };

export const failure = (application_game_id: string, kind: string): Failure => ({
  application_game_id,
  kind,
  reasons: [{ path: '', code: kind }],
});

export const failedCalls = (ids: readonly string[], code: CallErrorCode): FailedCall[] =>
  ids.map((application_game_id) => ({ application_game_id, error: new CallError(code, code) }));

/** What one job fetched of these games. */
export const batchOf = (outcomes: ReadonlyMap<string, Outcome>): Batch => {
  const ids = (outcome: Outcome) => [...outcomes].filter(([, own]) => own === outcome).map(([id]) => id);
  return {
    batch: [
      ...ids('fetched').map((id) => ({ application_game_id: id, game: fetchedDetail({ game_id: id }) })),
      ...ids('missing').map((application_game_id) => ({ application_game_id, game: null })),
      ...failedCalls(ids('invalid'), 'invalid_data'),
      ...failedCalls(ids('retried'), 'timeout'),
    ],
    notRetried: ids('not retried').map((id) => failure(id, 'timeout')),
  };
};

/** Runs whose first page is recorded, and what their jobs write. */
export const useRecordedRuns = () => {
  const database = useTestDatabase();
  /** An application that no other test has. */
  const ownApplication = () => addApplication(database.sql, `app-${randomUUID()}`);

  /** A run of a new application whose first page is recorded, with every detail open. */
  const aRecordedRun = async (ids = GAMES) => {
    const application = await ownApplication();
    const run = await anOpenRun(database.sql, application.application_id);
    await recordPage(database.sql, { application, run, previous: undefined }, page(ids), 10);
    return { application, run };
  };

  /** Its second page is empty: the listing has ended, the details of the first may still come. */
  const endListing = async ({ application, run }: Awaited<ReturnType<typeof aRecordedRun>>) => {
    const now = await findRun(database.sql, run.run_id);
    if (now === undefined) throw new Error('the run does not exist');
    const previous = await findPage(database.sql, run.run_id, 1);
    await recordPage(
      database.sql,
      { application, run: now, previous },
      { total: now.row_count, list: [] },
      10,
    );
  };

  const openGames = async (run_id: string) =>
    Object.keys((await findPage(database.sql, run_id, 1))?.open_games ?? {});

  const write = (fence: RunFence, { batch, notRetried }: Batch) =>
    writePageDetails(database.sql, fence, 1, batch, notRetried);

  /** Everything that a replay could change, without the ids and moments that differ from run to run. */
  const outcomeOf = async ({ application_id }: ApplicationRow, run_id: string) => ({
    page: await database.sql`
      select open_games, answered, listed, inserted, updated, unchanged, invalid, failed, missing
      from sync_run_pages where run_id = ${run_id}`,
    games: await database.sql`
      select g.application_game_id, g.revision, g.content_hash, g.fetched_at, g.audit_status,
             (select count(*)::int from game_revisions r where r.game_id = g.game_id) as revisions
      from games g where application_id = ${application_id} order by application_game_id`,
    failures: await database.sql`
      select operation, application_game_id, kind, reasons, count from ingest_failures
      where application_id = ${application_id} order by application_game_id`,
  });
  return { database, ownApplication, aRecordedRun, endListing, openGames, write, outcomeOf };
};
