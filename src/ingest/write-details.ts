import type { Database, Queryable } from '#db/client.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import { findStoredGames, upsertGames } from '#db/queries/games.ts';
import { countDetails, lockRunPage } from '#db/queries/run-pages.ts';
import type { RunFence } from '#db/queries/runs.ts';
import { withdrawConfirmed } from '#db/queries/unlisted-games.ts';
import { DETAIL_COUNTERS, type DetailCounts } from '#src/contract/words.ts';
import { failureReasons } from '#src/ingest/explain-failures.ts';
import { bytesOf, type DetailResult, type FailedCall, type WantedGame } from '#src/ingest/fetch-details.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { isAnswered } from '#src/rules/down.ts';
import { inSpan } from '#src/tracing/span.ts';
import type { UnwrittenAnswers } from '#src/webhooks/answer-memory.ts';

/** The results of the details that one job wanted. */
export type DetailResults = {
  counts: DetailCounts;
  failures: FailedCall[];
  /** Games to be retried, because their call failed in a way that may pass, or did not begin. */
  open: string[];
};

export const NO_COUNTS: DetailCounts = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  invalid: 0,
  failed: 0,
  missing: 0,
};

/** Does no retry follow? Either the call succeeded, or a retry would fail in the same way. */
const isFinal = ({ error }: DetailResult): boolean => error?.retryable !== true;

const isFailedCall = (result: DetailResult): result is FailedCall => result.error !== undefined;

const idsOf = (items: readonly { application_game_id: string }[]): string[] =>
  items.map(({ application_game_id }) => application_game_id);

/** Lists the games of these results that are not retried. */
export const finalIds = (results: readonly DetailResult[]): string[] => idsOf(results.filter(isFinal));

/** The failure of a game that is not retried. */
export type LastFailure = Failure & { isAnswered?: boolean };

const toFailure = ({ application_game_id, error }: FailedCall): LastFailure => ({
  application_game_id,
  kind: error.code,
  reasons: failureReasons(error),
  final: !error.retryable,
  isAnswered: isAnswered(error),
});

/** Makes the failures of open games that are not retried. @param kind of those without a failed call */
export const finalFailures = (
  { open, failures }: Pick<DetailResults, 'open' | 'failures'>,
  kind: 'not_requested' | 'internal' = 'not_requested',
): LastFailure[] => {
  const failed = new Map(failures.map((failure) => [failure.application_game_id, toFailure(failure)]));
  return open.map(
    (application_game_id) =>
      failed.get(application_game_id) ?? { application_game_id, kind, reasons: [{ path: '', code: kind }] },
  );
};

/**
 * Writes each batch as it comes. A failed write is retried together with the next batch. Throws if the last write fails,
 * or if unwritten answers fill the memory.
 * @param answers counts what is unwritten
 * @param write returns undefined when nothing may be written any more, which ends the calls
 * @returns undefined when `write` did
 */
export const writeBatches = async (
  wanted: readonly WantedGame[],
  batches: AsyncIterable<readonly DetailResult[]>,
  answers: UnwrittenAnswers,
  write: (batch: readonly DetailResult[]) => Promise<DetailCounts | undefined>,
): Promise<DetailResults | undefined> => {
  const counts: DetailCounts = { ...NO_COUNTS };
  const failures: FailedCall[] = [];
  const open = new Set(wanted.map(([application_game_id]) => application_game_id));
  let unwritten: DetailResult[] = [];
  let writeError: unknown;
  for await (const batch of batches) {
    failures.push(...batch.filter(isFailedCall));
    unwritten.push(...batch);
    const ids = finalIds(unwritten);
    if (ids.length === 0) continue;
    try {
      const written = await write(unwritten);
      if (written === undefined) return undefined;
      for (const name of DETAIL_COUNTERS) counts[name] += written[name];
      for (const id of ids) open.delete(id);
      answers.remove(bytesOf(unwritten));
      unwritten = [];
      writeError = undefined;
    } catch (error) {
      if (answers.isFull()) throw error;
      writeError = error;
    }
  }
  if (writeError !== undefined) throw writeError;
  return { counts, failures, open: [...open] };
};

/** Makes the failure of a new game whose application already has the most games. */
const toSurplus = (application_game_id: string): Failure => {
  const kind = 'too_many_games';
  return { application_game_id, kind, reasons: [{ path: '', code: kind }], final: true };
};

/** Makes the failure of a game that the list names and whose detail is null. */
const toNoDetail = (application_game_id: string): Failure => ({
  application_game_id,
  kind: 'no_detail',
  reasons: [{ path: 'data', code: 'null' }],
  final: true,
});

/** Finds the new games for which there is no room. */
const findSurplus = async (
  tx: Queryable,
  application_id: string,
  ids: readonly string[],
  room: number,
): Promise<string[]> => {
  if (ids.length <= room) return [];
  const stored = await findStoredGames(tx, application_id, ids);
  return ids.filter((id) => !stored.has(id)).slice(Math.max(0, room));
};

/**
 * Writes games, and the failures of the others.
 * @param options.listHashes of the list entries, if the games were listed. A detail that is null is then a failure
 * @param options.room new games that the application may still have (null: no limit); further ones fail
 * @param options.keepsAges see `upsertGames`
 */
export const writeGames = async (
  tx: Queryable,
  application_id: string,
  results: readonly DetailResult[],
  notRetried: readonly Failure[],
  options: {
    hasFailures: boolean;
    listHashes?: ReadonlyMap<string, string>;
    room?: number | null;
    keepsAges?: boolean;
  },
): Promise<DetailCounts & { stored_bytes: number }> => {
  const { hasFailures, listHashes, room, keepsAges } = options;
  const answered = results.filter((result) => !isFailedCall(result));
  const ids = answered.filter(({ game }) => game !== null).map((each) => each.application_game_id);
  const surplus = new Set(await findSurplus(tx, application_id, ids, room ?? Number.POSITIVE_INFINITY));
  const fetched = answered.filter(({ application_game_id }) => !surplus.has(application_game_id));
  const games = fetched.flatMap(({ game }) => game ?? []);
  const { inserted, updated } = await upsertGames(tx, application_id, games, keepsAges);
  const written = new Set([...inserted, ...updated]);
  const stored = games.filter(({ application_game_id }) => written.has(application_game_id));
  const invalid = results.filter(isFailedCall).filter(isFinal).map(toFailure);
  const nulls = idsOf(fetched.filter(({ game }) => game === null));
  const withoutDetail = listHashes === undefined ? [] : nulls;
  if (hasFailures) {
    const resolved = new Set(idsOf(fetched)).difference(new Set(nulls));
    await clearFailures(tx, application_id, 'query_game_detail', [...resolved]);
    // Outside a run, the failure of a game that a list names stays, because its detail is missing as before.
    if (listHashes === undefined)
      await clearFailures(tx, application_id, 'query_game_detail', nulls, { onlyUnlisted: true });
  }
  const failed = [
    ...invalid,
    ...notRetried,
    ...[...surplus].map(toSurplus),
    ...withoutDetail.map(toNoDetail),
  ].map((failure) => {
    const list_hash = listHashes?.get(failure.application_game_id);
    return list_hash === undefined ? failure : { ...failure, list_hash };
  });
  await recordFailures(tx, application_id, 'query_game_detail', failed);
  return {
    inserted: inserted.length,
    updated: updated.length,
    unchanged: games.length - inserted.length - updated.length,
    invalid: invalid.length,
    failed: notRetried.length + surplus.size,
    missing: fetched.length - games.length,
    stored_bytes: stored.reduce((sum, { bytes }) => sum + Math.max(bytes, STORAGE.bytesOfGame), 0),
  };
};

/**
 * Writes a batch of a page's details and the page's counters, in one transaction under the run's fence. Only games that are
 * still open on the page count, so a replay leaves the same rows and the same counters. The details of an unlisted page
 * only show which games are gone. Those are withdrawn.
 * @param notRetried failures of games that stay without a detail
 * @returns undefined when the fence is stale, or the run has stored as much as it may; nothing was then written
 */
export const writePageDetails = (
  sql: Database,
  fence: RunFence,
  page_num: number,
  batch: readonly DetailResult[],
  notRetried: readonly LastFailure[] = [],
): Promise<DetailCounts | undefined> =>
  inSpan('upsert games', { 'catalogue.run_id': fence.run_id, 'catalogue.page_num': page_num }, () =>
    sql.begin(async (tx): Promise<DetailCounts | undefined> => {
      const page = await lockRunPage(tx, fence, page_num);
      if (page === undefined) return undefined;
      const isOpen = ({ application_game_id }: { application_game_id: string }): boolean =>
        Object.hasOwn(page.open_games, application_game_id);
      const open = batch.filter(isOpen);
      const failed = notRetried.filter(isOpen);
      const final = open.filter(isFinal);
      const ids = idsOf([...final, ...failed]);
      const answered =
        final.filter(({ error }) => error === undefined || isAnswered(error)).length +
        failed.filter(({ isAnswered }) => isAnswered).length;
      if (page.kind === 'unlisted') {
        const key = { run_id: fence.run_id, page_num, application_id: page.application_id };
        const withdrawn = await withdrawConfirmed(tx, key, idsOf(open.filter(({ game }) => game === null)));
        await countDetails(tx, fence.run_id, page_num, ids, { ...NO_COUNTS, answered, withdrawn });
        return NO_COUNTS;
      }
      const hashes = new Map(Object.entries(page.open_games));
      const counts = await writeGames(tx, page.application_id, open, failed, {
        hasFailures: page.has_failures,
        listHashes: hashes,
        room: page.storable_games,
        keepsAges: page.keeps_ages,
      });
      await countDetails(tx, fence.run_id, page_num, ids, { ...counts, answered });
      return counts;
    }),
  );
