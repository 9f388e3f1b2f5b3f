import type { Database } from '#db/client.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findPage, settleGames } from '#db/queries/run-pages.ts';
import { lockRun, type RunFence } from '#db/queries/runs.ts';
import type { FetchedDetails } from '#src/ingest/fetch-details.ts';
import { inSpan } from '#src/tracing/span.ts';

export type Settled = {
  /** Games of the page that still want their detail. */
  open: number;
  inserted: number;
  updated: number;
  unchanged: number;
  invalid: number;
  failed: number;
  missing: number;
};

/**
 * Write what a batch brought: valid games in one upsert, reasons for the rest, and the page's counters, in
 * one transaction under the run's fence. Only games that are still open on the page count, so a replay leaves
 * the same rows and the same counters.
 * @param givenUp games that failed for good: out of tries
 * @returns undefined when the run is not held any more: then nothing was written
 */
export const settleDetails = (
  sql: Database,
  hold: RunFence,
  page_num: number,
  fetched: FetchedDetails,
  givenUp: readonly Failure[],
): Promise<Settled | undefined> =>
  inSpan(
    'upsert games',
    { 'catalogue.run_id': hold.run_id, 'catalogue.page_num': page_num },
    () =>
      sql.begin(async (tx): Promise<Settled | undefined> => {
        // Sent together, read in this order: the page is seen as it is under the lock.
        const [run, page] = await Promise.all([lockRun(tx, hold), findPage(tx, hold.run_id, page_num)]);
        if (run === undefined || page === undefined) return undefined;
        const isOpen = (application_game_id: string) => Object.hasOwn(page.open_games, application_game_id);
        const landed = fetched.landed.filter((game) => isOpen(game.application_game_id));
        const missing = fetched.missing.filter(isOpen);
        const invalid = fetched.invalid.filter((failure) => isOpen(failure.application_game_id));
        const failed = givenUp.filter((failure) => isOpen(failure.application_game_id));
        const landedIds = landed.map((game) => game.application_game_id);
        const { inserted, updated } = await upsertGames(tx, run.application_id, landed);
        const counts = {
          inserted: inserted.length,
          updated: updated.length,
          unchanged: landed.length - inserted.length - updated.length,
          invalid: invalid.length,
          failed: failed.length,
          missing: missing.length,
        };
        const settledIds = [
          ...landedIds,
          ...missing,
          ...[...invalid, ...failed].map((failure) => failure.application_game_id),
        ];
        await Promise.all([
          clearFailures(tx, run.application_id, 'query_game_detail', [...landedIds, ...missing]),
          recordFailures(tx, run.application_id, 'query_game_detail', [...invalid, ...failed]),
          settleGames(tx, run.run_id, page_num, settledIds, {
            ...counts,
            answered: landed.length + missing.length + invalid.filter(({ reached }) => reached).length,
          }),
        ]);
        return { ...counts, open: Object.keys(page.open_games).length - settledIds.length };
      }) as Promise<Settled | undefined>,
  );
