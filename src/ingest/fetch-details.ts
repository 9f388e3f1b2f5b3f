import { randomUUIDv7 } from 'node:crypto';
import type { Failure } from '#db/queries/failures.ts';
import type { FetchedGame } from '#db/queries/games.ts';
import { coerceError } from '#src/errors.ts';
import { contentHash, toGameContent } from '#src/rules/mapping.ts';
import type { WebhookClient, WebhookTarget } from '#src/webhooks/client.ts';
import { isWebhookError, type WebhookError } from '#src/webhooks/errors.ts';
import { forEachPaced, type Pace } from '#src/webhooks/paced.ts';

/** What became of a batch of detail calls. A game asked for and in none of these was not called at all. */
export type FetchedDetails = {
  landed: FetchedGame[];
  /** Ids of those that landed and are written down already: a page of large games is not kept in memory to its end. */
  stored: string[];
  /** data null: not an error (design, section 5, decision 13). */
  missing: string[];
  /**
   * Asking again now would not help: answered, but not as the document says; or, with `reached` false, failed on
   * the way for a reason that stays (no such path, a redirect, an address we do not call).
   */
  invalid: (Failure & { reached: boolean })[];
  /** Failed for a passing reason. */
  passing: { application_game_id: string; error: WebhookError }[];
  /** The longest wait the application asked for. */
  retryAfterMs: number | undefined;
};

/** The reasons to keep of a failed call: field paths and codes, and what the application itself said. */
const failureOf = (application_game_id: string, error: WebhookError): Failure => ({
  application_game_id,
  kind: error.code,
  reasons: error.reasons.length > 0 ? error.reasons : [{ path: '', code: failureCode(error) }],
});

const failureCode = (error: WebhookError): string => {
  if (error.code === 'ret_code') return `ret_code ${error.retCode}${error.retMsg ? `: ${error.retMsg}` : ''}`;
  return error.status === undefined ? error.code : `${error.code} ${error.status}`;
};

/**
 * The failures to keep of a batch that is not tried again: calls that failed for a passing reason, and games
 * that were not asked for because the batch stopped before them.
 */
export const givenUpFailures = (
  fetched: FetchedDetails,
  application_game_ids: readonly string[],
): Failure[] => {
  const failed = fetched.passing.map(({ application_game_id, error }) =>
    failureOf(application_game_id, error),
  );
  const asked = new Set([
    ...fetched.stored,
    ...fetched.missing,
    ...[...fetched.landed, ...fetched.invalid, ...failed].map((game) => game.application_game_id),
  ]);
  const notAsked = application_game_ids
    .filter((id) => !asked.has(id))
    .map((id) => ({
      application_game_id: id,
      kind: 'not_asked',
      reasons: [{ path: '', code: 'not_asked' }],
    }));
  return [...failed, ...notAsked];
};

/** In another order each time: games that fail again and again must not stand before the others at every try. */
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

/** One or two broken games in a row do not mean that an application called one at a time is down. */
const STOP_AFTER_MIN = 3;

/**
 * Call the application-side game.queryDetail (section 4.5) for each game, at the application's pace. Stops
 * early when the application asks to wait (Retry-After), or after as many transport failures in a row as
 * calls may be in flight (and at least three): an application that is down is not asked a hundred times.
 *
 * @param clock the database's: answers of several workers are compared by when they were asked for
 * @param games application_game_id and the hash of its list entry ("" if not known)
 * @param onAnswer told after each call of all that came so far; with 'stop' no further call is made
 */
export const fetchDetails = async (
  webhooks: Pick<WebhookClient, 'queryGameDetail'>,
  target: WebhookTarget,
  games: readonly (readonly [application_game_id: string, list_hash: string])[],
  pace: Pace,
  clock: () => Date,
  onAnswer: (soFar: FetchedDetails) => 'go on' | 'stop' = () => 'go on',
): Promise<FetchedDetails> => {
  const fetched: FetchedDetails = {
    landed: [],
    stored: [],
    missing: [],
    invalid: [],
    passing: [],
    retryAfterMs: undefined,
  };
  let transportFailures = 0;
  await forEachPaced(shuffled(games), pace, async ([application_game_id, list_hash]) => {
    const fetched_at = clock();
    try {
      const detail = await webhooks.queryGameDetail(target, { game_id: application_game_id }, pace.signal);
      transportFailures = 0;
      if (detail === null) {
        fetched.missing.push(application_game_id);
        return onAnswer(fetched);
      }
      const content = toGameContent(detail);
      const content_hash = contentHash(content);
      fetched.landed.push({
        game_id: randomUUIDv7(),
        application_game_id,
        ...content,
        content_hash,
        list_hash,
        fetched_at,
      });
      return onAnswer(fetched);
    } catch (thrown) {
      if (!isWebhookError(thrown)) throw coerceError(thrown);
      if (thrown.code === 'aborted') return 'stop';
      transportFailures = thrown.transport ? transportFailures + 1 : 0;
      if (thrown.retryable) fetched.passing.push({ application_game_id, error: thrown });
      else fetched.invalid.push({ ...failureOf(application_game_id, thrown), reached: !thrown.transport });
      if (thrown.retryAfterMs !== undefined) {
        fetched.retryAfterMs = Math.max(fetched.retryAfterMs ?? 0, thrown.retryAfterMs);
        return 'stop';
      }
      return transportFailures >= Math.max(pace.concurrency, STOP_AFTER_MIN) ? 'stop' : onAnswer(fetched);
    }
  });
  return fetched;
};
