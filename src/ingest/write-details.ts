import type { Database, Queryable } from '#db/client.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { countDetails, lockRunPage } from '#db/queries/run-pages.ts';
import type { RunFence } from '#db/queries/runs.ts';
import { withdrawConfirmed } from '#db/queries/unlisted-games.ts';
import { DETAIL_COUNTERS, type DetailCounts } from '#src/contract/words.ts';
import { type DetailBatch, emptyBatch, type FailedCall, type WantedGame } from '#src/ingest/fetch-details.ts';
import { isAnswer } from '#src/rules/down.ts';
import { inSpan } from '#src/tracing/span.ts';
import type { WebhookError } from '#src/webhooks/errors.ts';

/** What became of the details that one job wanted. */
export type DetailResults = {
  counts: DetailCounts;
  failures: FailedCall[];
  /** Games to be retried: their call failed in a way that may pass, or did not begin. */
  open: string[];
};

const NO_COUNTS: DetailCounts = { inserted: 0, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };

/** Failures that a retry of the same call would only repeat. */
const isFinal = ({ error }: FailedCall): boolean => !error.retryable;

/** Answers that no retry follows. */
const countAnswers = ({ games, missing, failures }: DetailBatch): number =>
  games.length +
  missing.length +
  failures.filter((failure) => isFinal(failure) && isAnswer(failure.error)).length;

const idsOf = (items: readonly { application_game_id: string }[]): string[] =>
  items.map(({ application_game_id }) => application_game_id);

const finalIdsOf = ({ games, missing, failures }: DetailBatch): string[] => [
  ...idsOf(games),
  ...missing,
  ...idsOf(failures.filter(isFinal)),
];

const append = (to: DetailBatch, from: DetailBatch): void => {
  to.games.push(...from.games);
  to.missing.push(...from.missing);
  to.failures.push(...from.failures);
};

const failureCode = ({ code, status, retCode, retMsg }: WebhookError): string => {
  if (code === 'ret_code') return `ret_code ${retCode}${retMsg ? `: ${retMsg}` : ''}`;
  return status === undefined ? code : `${code} ${status}`;
};

/** The failure of a game that is not retried. */
export type LastFailure = Failure & { isAnswered?: boolean };

/** The row to keep of a failed call: field paths and codes, and the application's own message. */
const toFailure = ({ application_game_id, error }: FailedCall): LastFailure => ({
  application_game_id,
  kind: error.code,
  reasons: error.reasons.length > 0 ? error.reasons : [{ path: '', code: failureCode(error) }],
  isAnswered: isAnswer(error),
});

/** The rows to keep of open games that are not retried: failed calls, and calls that did not begin. */
export const finalFailures = ({ open, failures }: DetailResults): LastFailure[] => {
  const failed = new Map(failures.map((failure) => [failure.application_game_id, toFailure(failure)]));
  const kind = 'not_asked';
  return open.map(
    (application_game_id) =>
      failed.get(application_game_id) ?? { application_game_id, kind, reasons: [{ path: '', code: kind }] },
  );
};

/**
 * Write each batch as it comes. A batch whose write fails is written with the next one; the last write throws.
 * @param write returns undefined when nothing may be written any more, which ends the calls
 * @returns undefined when `write` did
 */
export const writeBatches = async (
  wanted: readonly WantedGame[],
  batches: AsyncIterable<DetailBatch>,
  write: (batch: DetailBatch) => Promise<DetailCounts | undefined>,
): Promise<DetailResults | undefined> => {
  const counts: DetailCounts = { ...NO_COUNTS };
  const failures: FailedCall[] = [];
  const open = new Set(wanted.map(([application_game_id]) => application_game_id));
  let unwritten = emptyBatch();
  let writeError: unknown;
  for await (const batch of batches) {
    failures.push(...batch.failures);
    append(unwritten, batch);
    const ids = finalIdsOf(unwritten);
    if (ids.length === 0) continue;
    try {
      const written = await write(unwritten);
      if (written === undefined) return undefined;
      for (const name of DETAIL_COUNTERS) counts[name] += written[name];
      for (const id of ids) open.delete(id);
      unwritten = emptyBatch();
      writeError = undefined;
    } catch (error) {
      writeError = error;
    }
  }
  if (writeError !== undefined) throw writeError;
  return { counts, failures, open: [...open] };
};

/** Write games, and the failures of the others. */
export const writeGames = async (
  tx: Queryable,
  application_id: string,
  { games, missing, failures }: DetailBatch,
  notRetried: readonly Failure[],
  hasFailures: boolean,
): Promise<DetailCounts> => {
  const { inserted, updated } = await upsertGames(tx, application_id, games);
  const invalid = failures.filter(isFinal).map(toFailure);
  if (hasFailures)
    await clearFailures(tx, application_id, 'query_game_detail', [...idsOf(games), ...missing]);
  await recordFailures(tx, application_id, 'query_game_detail', [...invalid, ...notRetried]);
  return {
    inserted: inserted.length,
    updated: updated.length,
    unchanged: games.length - inserted.length - updated.length,
    invalid: invalid.length,
    failed: notRetried.length,
    missing: missing.length,
  };
};

/**
 * Write a batch of a page's details and the page's counters, in one transaction under the run's fence. Only games
 * that are still open on the page count: a replay leaves the same rows and the same counters. Of an unlisted page, the
 * details only show which games are gone: those are withdrawn.
 * @param notRetried failures of games that stay without a detail
 * @returns undefined when the fence is stale: then nothing was written
 */
export const writePageDetails = (
  sql: Database,
  fence: RunFence,
  page_num: number,
  batch: DetailBatch,
  notRetried: readonly LastFailure[] = [],
): Promise<DetailCounts | undefined> =>
  inSpan(
    'upsert games',
    { 'catalogue.run_id': fence.run_id, 'catalogue.page_num': page_num },
    () =>
      sql.begin(async (tx): Promise<DetailCounts | undefined> => {
        const page = await lockRunPage(tx, fence, page_num);
        if (page === undefined) return undefined;
        const isOpen = (application_game_id: string): boolean =>
          Object.hasOwn(page.open_games, application_game_id);
        const open: DetailBatch = {
          games: batch.games.filter((game) => isOpen(game.application_game_id)),
          missing: batch.missing.filter(isOpen),
          failures: batch.failures.filter((failure) => isOpen(failure.application_game_id)),
        };
        const failed = notRetried.filter((failure) => isOpen(failure.application_game_id));
        const ids = [...finalIdsOf(open), ...idsOf(failed)];
        const answered = countAnswers(open) + failed.filter(({ isAnswered }) => isAnswered).length;
        if (page.kind === 'unlisted') {
          const key = { run_id: fence.run_id, page_num, application_id: page.application_id };
          const withdrawn = await withdrawConfirmed(tx, key, open.missing);
          await countDetails(tx, fence.run_id, page_num, ids, { ...NO_COUNTS, answered, withdrawn });
          return NO_COUNTS;
        }
        const counts = await writeGames(tx, page.application_id, open, failed, page.has_failures);
        await countDetails(tx, fence.run_id, page_num, ids, { ...counts, answered });
        return counts;
      }) as Promise<DetailCounts | undefined>,
  );
