import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchedGame } from '#db/queries/games.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { coerceError } from '#src/errors.ts';
import { contentHash, toGameContent } from '#src/rules/mapping.ts';
import type { WebhookClient, WebhookTarget } from '#src/webhooks/client.ts';
import { isWebhookError, type WebhookError } from '#src/webhooks/errors.ts';
import { forEachPaced, type Pace } from '#src/webhooks/paced.ts';

/** A game whose detail is wanted, with the hash of its list entry ("" if unknown). */
export type WantedGame = readonly [application_game_id: string, list_hash: string];

export type FailedCall = { application_game_id: string; error: WebhookError };

/** Results of the detail calls that ended since the batch before. */
export type DetailBatch = {
  games: FetchedGame[];
  /** Games whose data is null: not an error (design, section 5, decision 13). */
  missing: string[];
  failures: FailedCall[];
};

export const emptyBatch = (): DetailBatch => ({ games: [], missing: [], failures: [] });

/** A crash costs at most this much of a slow application's answers, and pages that began together write in turn. */
const BATCH_MS = 1_000;

/** One or two broken games in a row do not mean that an application with a concurrency of 1 is down. */
const STOP_AFTER_MIN = 3;

/** A new order for each attempt: games that fail every time must not come before the others every time. */
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

const toFetchedGame = (
  [application_game_id, list_hash]: WantedGame,
  detail: ApplicationGameDetail,
  fetched_at: Date,
): FetchedGame => {
  const content = toGameContent(detail);
  return {
    game_id: randomUUIDv7(),
    application_game_id,
    ...content,
    content_hash: contentHash(content),
    list_hash,
    fetched_at,
  };
};

/**
 * Call the application-side game.queryDetail (section 4.5) for each game, at the application's pace, and yield the
 * results about every `batchMs` and at the end; a batch may be empty. The calls go on while the caller writes
 * a batch. A caller that leaves the loop stops them: calls in flight end first.
 *
 * No further call begins once the application requests a delay (Retry-After), once the pace's signal aborts, or after
 * as many transport failures in a row as calls may be in flight (at least three). Games without a call are in no batch.
 *
 * @param clock the database's: answers to different workers are compared by when they were requested
 */
export async function* fetchDetails(
  webhooks: Pick<WebhookClient, 'queryGameDetail'>,
  target: WebhookTarget,
  wanted: readonly WantedGame[],
  pace: Pace,
  clock: () => Date,
  batchMs = BATCH_MS,
): AsyncGenerator<DetailBatch, void, void> {
  let batch = emptyBatch();
  let transportFailures = 0;
  let isStopped = false;
  let haveEnded = false;

  const fetchDetail = async (game: WantedGame): Promise<'go on' | 'stop'> => {
    const [application_game_id] = game;
    const fetched_at = clock();
    try {
      const detail = await webhooks.queryGameDetail(target, { game_id: application_game_id }, pace.signal);
      transportFailures = 0;
      if (detail === null) batch.missing.push(application_game_id);
      else batch.games.push(toFetchedGame(game, detail, fetched_at));
    } catch (thrown) {
      if (!isWebhookError(thrown)) throw coerceError(thrown);
      if (thrown.code === 'aborted') return 'stop';
      batch.failures.push({ application_game_id, error: thrown });
      transportFailures = thrown.transport ? transportFailures + 1 : 0;
      if (thrown.retryAfterMs !== undefined) return 'stop';
      if (transportFailures >= Math.max(pace.concurrency, STOP_AFTER_MIN)) return 'stop';
    }
    return isStopped ? 'stop' : 'go on';
  };

  const calls = forEachPaced(shuffled(wanted), pace, fetchDetail).finally(() => {
    haveEnded = true;
  });
  // A failure while the caller writes is thrown by the next await.
  calls.catch(() => {});
  try {
    for (let isLast = false; !isLast; ) {
      await Promise.race([calls, sleep(batchMs, undefined, { ref: false })]);
      isLast = haveEnded;
      const results = batch;
      batch = emptyBatch();
      yield results;
    }
  } finally {
    isStopped = true;
    await calls;
  }
}
