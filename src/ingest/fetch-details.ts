import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchedGame } from '#db/queries/games.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { type CallError, isCallError } from '#src/egress/errors.ts';
import { coerceError } from '#src/errors.ts';
import { forEachPaced, type Pace } from '#src/ingest/for-each-paced.ts';
import type { ApplicationTarget } from '#src/ingest/open-target.ts';
import type { IdentityRule } from '#src/rules/address-identity.ts';
import { addressesEndAt, contentBytes, contentHash, toGameContent } from '#src/rules/mapping.ts';
import type { UnwrittenAnswers } from '#src/webhooks/answer-memory.ts';
import type { WebhookClient } from '#src/webhooks/client.ts';

/** A game whose detail is wanted, with the hash of its list entry ("" if unknown). */
export type WantedGame = readonly [application_game_id: string, list_hash: string];

export type FailedCall = { application_game_id: string; error: CallError; game?: undefined };

/** A game with the bytes of its content as Postgres stores it, before compression. */
export type FetchedDetail = FetchedGame & { bytes: number };

/** The result of a detail call. `game` is null if its data is null, which is no error. */
export type DetailResult =
  | FailedCall
  | { application_game_id: string; error?: undefined; game: FetchedDetail | null };

/** Sums the bytes of the content of these results. */
export const bytesOf = (results: readonly DetailResult[]): number =>
  results.reduce((bytes, { game }) => bytes + (game?.bytes ?? 0), 0);

/** A crash loses at most the responses of this time, and pages that began together write in turns. */
const BATCH_MS = 1_000;

/** At least three, because one or two broken games in a row do not mean that an application with a concurrency of 1 is down. */
const STOP_AFTER_MIN = 3;

/** A new order for each attempt, because games that fail every time must not come before the others every time. */
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

const toFetchedGame = (
  [application_game_id, list_hash]: WantedGame,
  detail: ApplicationGameDetail,
  fetched_at: Date,
  rule: IdentityRule,
): FetchedDetail => {
  const content = toGameContent(detail);
  return {
    game_id: randomUUIDv7(),
    application_game_id,
    ...content,
    bytes: contentBytes(content),
    content_hash: contentHash(content, rule),
    addresses_end_at: addressesEndAt(content),
    list_hash,
    fetched_at,
  };
};

/**
 * Calls the application-side game.queryDetail (section 4.5) for each game, at the application's pace, and yields the
 * results about every `batchMs` and at the end; a batch may be empty. The calls go on while the caller writes a batch. A
 * caller that leaves the loop stops them, and waits for those in flight.
 *
 * No further call begins while too much is unwritten, once the application requests a delay (Retry-After), once the pace's
 * signal aborts, or after as many transport failures in a row as calls may be in flight (at least three). Games without a
 * call are in no batch. Throws when a turn cannot be taken, after the last batch.
 *
 * @param unwritten counts the content that is read; the caller removes what it has written
 * @param clock the database's, because details that different workers fetch are compared by the time of their request
 */
export async function* fetchDetails(
  webhooks: Pick<WebhookClient, 'queryGameDetail'>,
  target: ApplicationTarget,
  wanted: readonly WantedGame[],
  pace: Pace,
  unwritten: UnwrittenAnswers,
  clock: () => Date,
  batchMs = BATCH_MS,
): AsyncGenerator<DetailResult[], void, void> {
  let batch: DetailResult[] = [];
  let transportFailures = 0;
  let isStopped = false;
  let haveEnded = false;

  const fetchDetail = async (game: WantedGame): Promise<'go on' | 'stop'> => {
    const [application_game_id] = game;
    await unwritten.room();
    if (isStopped || pace.signal.aborted) return 'stop';
    const fetched_at = clock();
    try {
      const detail = await webhooks.queryGameDetail(target, { game_id: application_game_id }, pace.signal);
      transportFailures = 0;
      const result = {
        application_game_id,
        game: detail && toFetchedGame(game, detail, fetched_at, target.rule),
      };
      batch.push(result);
      unwritten.add(bytesOf([result]));
    } catch (thrown) {
      if (!isCallError(thrown)) throw coerceError(thrown);
      if (thrown.code === 'aborted') return 'stop';
      batch.push({ application_game_id, error: thrown });
      transportFailures = thrown.transport ? transportFailures + 1 : 0;
      if (thrown.retryAfterMs !== undefined) return 'stop';
      if (transportFailures >= Math.max(pace.concurrency, STOP_AFTER_MIN)) return 'stop';
    }
    return isStopped ? 'stop' : 'go on';
  };

  let failure: unknown;
  const calls = forEachPaced(shuffled(wanted), pace, fetchDetail)
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      haveEnded = true;
    });
  try {
    for (let isLast = false; !isLast; ) {
      await Promise.race([calls, unwritten.filled(), sleep(batchMs, undefined, { ref: false })]);
      isLast = haveEnded;
      const results = batch;
      batch = [];
      yield results;
    }
    if (failure !== undefined) throw failure;
  } finally {
    isStopped = true;
    // Calls that wait for room end without a call; those in flight may add answers that are not written.
    unwritten[Symbol.dispose]();
    await calls;
    unwritten[Symbol.dispose]();
  }
}
