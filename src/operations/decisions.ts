/**
 * Decisions on games: pass, reject. The triggers of `games` write what follows a pass or a rejection: counters, lanes,
 * events (docs/architecture.md).
 */

import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { type DecidableGame, insertDecisions, lockGames, readDecidableGames } from '#db/queries/decisions.ts';
import { findFetchingGames } from '#db/queries/fetching-games.ts';
import { lockAgainstHolds } from '#db/queries/holds.ts';
import { lockPictures, pinPictures } from '#db/queries/picture-pins.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { decidableGame } from '#src/contract/documents.ts';
import { prose } from '#src/contract/text.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import { explainNothingDone, type GameDecision } from '#src/operations/decision-results.ts';
import { type AuditNote, type Context, defineOperation } from '#src/operations/operation.ts';
import { fetchAwaited, placePictures } from '#src/operations/place-pictures.ts';
import { DECISION_RESULTS, judgeDecision, type WantedDecision } from '#src/rules/judge-decision.ts';

/** The most games that one act decides on, or undoes. */
export const DECISION_GAMES_MAX = 1_000;
const REVISION_MAX = 2 ** 31 - 1;

/** Null for an empty text. */
const decisionText = prose.transform((text) => text || null).default(null);

const SHA256 = /^[0-9a-f]{64}$/;
const isSeen = ([id, sha256]: [string, unknown]): boolean =>
  z.regexes.guid.test(id) && typeof sha256 === 'string' && SHA256.test(sha256);

/** Checked as a whole, because an issue for each of 50,000 wrong ones takes a second. */
const seenPictures = z
  .record(z.string(), z.unknown())
  .meta({
    propertyNames: { format: 'uuid' },
    additionalProperties: { type: 'string', pattern: SHA256.source },
  })
  .refine(
    (pictures) => Object.entries(pictures).every(isSeen),
    'must be a SHA-256 in hex for each id of a picture',
  )
  .transform((pictures) =>
    Object.fromEntries(Object.entries(pictures).map(([id, sha256]) => [id.toLowerCase(), String(sha256)])),
  );

/** A game and the revision that a reviewer saw. */
export const seenRevision = z.object({
  game_id: z.guid().toLowerCase(),
  revision: z.int().min(1).max(REVISION_MAX),
  /** SHA-256 in hex of the pictures that were on the screen, by picture; absent if the caller shows none. */
  seen_pictures: seenPictures.optional(),
});
export type SeenRevision = z.infer<typeof seenRevision>;

const decided = z.object({
  games: z
    .array(seenRevision)
    .min(1, 'must name at least one game')
    .max(DECISION_GAMES_MAX, `must be at most ${DECISION_GAMES_MAX}`),
  /** The status that the reviewer saw. A game in another one is not decided. Absent: any. */
  seen_status: z.enum(AUDIT_STATUSES).optional(),
  /** For operators. */
  note: decisionText,
});
type Decided = z.infer<typeof decided>;

/** `batch_id` is null unless several games were given and at least one was decided. */
export type DecidedBatch = { batch_id: string | null; games: GameDecision[] };

/** The schema of the result for one game. */
export const outcome = <const Results extends readonly [string, ...string[]]>(results: Results) =>
  z.object({
    game_id: z.guid(),
    revision: z.int(),
    result: z.enum(results),
    game: decidableGame.nullable().describe('The game now; null: there is none.'),
  });

/** The subject of the audit entry: the game if it is only one, else every game. */
const gamesSubject = ({ games }: Decided): string => `game:${games.length === 1 ? games[0]?.game_id : '*'}`;

/** Finds the games of which a picture has other bytes than were on the screen. The pictures stay locked until the transaction ends. */
const findMovedPictures = async (tx: Queryable, seen: readonly SeenRevision[]): Promise<Set<string>> => {
  const ids = seen.flatMap(({ seen_pictures = {} }) => Object.keys(seen_pictures));
  const now = ids.length === 0 ? new Map() : await lockPictures(tx, ids);
  const hasMoved = ([id, sha256]: [string, string]) => (now.get(id) ?? '').padEnd(64, '0') !== sha256;
  const moved = seen.filter(({ seen_pictures = {} }) => Object.entries(seen_pictures).some(hasMoved));
  return new Set(moved.map(({ game_id }) => game_id));
};

export const withGames = <Judged extends { game_id: string }>(
  judged: readonly Judged[],
  games: ReadonlyMap<string, DecidableGame>,
) => judged.map((each) => ({ ...each, game: games.get(each.game_id) ?? null }));

/**
 * Decides on games at the revisions that the reviewer saw. A game whose content or pictures have moved since, or that is
 * withdrawn, keeps its status; the others are decided. With a store of pictures, a game is not passed before every
 * picture was fetched and stored. Several games make a batch, which can be read (`listBatchPage`) and undone later.
 * @returns one result for each different pair of game and revision, in the order that was given
 */
export const decide = async (
  tx: Queryable,
  { games: given, seen_status, note }: Decided,
  decision: Pick<WantedDecision, 'audit_status' | 'reason' | 'text'> & { appeal_id?: number },
  { caller, keepsPictures }: Context,
): Promise<DecidedBatch> => {
  const seen = [...new Map(given.map((pair) => [`${pair.game_id}@${pair.revision}`, pair])).values()];
  const game_ids = seen.map(({ game_id }) => game_id);
  await lockAgainstHolds(tx, game_ids);
  await lockGames(tx, game_ids);
  const before = await readDecidableGames(tx, game_ids);
  const moved = await findMovedPictures(tx, seen);
  const needsPictures = keepsPictures && decision.audit_status === 'passed';
  const fetching = needsPictures ? await findFetchingGames(tx, game_ids) : new Set();
  const judged = seen.map(({ game_id, revision }) => {
    const found = { revision, hasPictureMoved: moved.has(game_id), isFetching: fetching.has(game_id) };
    return {
      game_id,
      revision,
      result: judgeDecision(found, before.get(game_id), { ...decision, seen_status }),
    };
  });
  const standing = judged.filter(({ result }) => result === 'decided').map(({ game_id }) => game_id);
  if (standing.length === 0) return { batch_id: null, games: withGames(judged, before) };
  const batch_id = seen.length > 1 ? randomUUIDv7() : null;
  const row = { ...decision, decided_by: caller.actor.actor, note, batch_id };
  const decisions = await insertDecisions(tx, standing, row);
  await pinPictures(
    tx,
    decisions.map(({ audit_id }) => audit_id),
  );
  return { batch_id, games: withGames(judged, await readDecidableGames(tx, game_ids)) };
};

const answer = z.object({
  batch_id: z.guid().nullable().describe('What game.undo takes; null unless several games were given.'),
  games: z.array(outcome(DECISION_RESULTS)),
});

const noteDecisions = ({ batch_id, games }: DecidedBatch): AuditNote[] =>
  games
    .filter(({ result }) => result === 'decided')
    .map(({ game_id, revision, game }) => ({
      subject: `game:${game_id}`,
      reason: game?.last?.reason ?? null,
      details: { revision, audit_id: game?.last?.audit_id, ...(batch_id !== null && { batch_id }) },
    }));

/** Adds the jobs that move the pictures of decided games in the store, and fetch those for which games wait. */
export const addPictureJobs = async (
  batch: DecidedBatch,
  _: unknown,
  platform: Context,
): Promise<DecidedBatch> => {
  const idsOf = (wanted: GameDecision['result']) =>
    batch.games.filter(({ result }) => result === wanted).map(({ game_id }) => game_id);
  await fetchAwaited(platform, idsOf('fetching'));
  await placePictures(platform, { game_ids: idsOf('decided') });
  return batch;
};

export const passGames = defineOperation({
  name: 'game.pass',
  title: 'Pass games',
  right: 'decide',
  input: decided,
  subject: gamesSubject,
  run: (tx, input, context) =>
    decide(tx, input, { audit_status: 'passed', reason: null, text: null }, context),
  log: noteDecisions,
  after: addPictureJobs,
  answer,
  refusal: ({ games }) => explainNothingDone(games),
});

/** Its label, "Another reason, see the text", tells the developer nothing alone. */
const NEEDS_TEXT = 'other';

/** @throws UsageError that lists the reasons, or requests the text */
const requireReason = async (tx: Queryable, reason: string, text: string | null): Promise<void> => {
  const codes = (await listReasons(tx)).filter((row) => row.retired_at === null).map((row) => row.code);
  if (!codes.includes(reason)) {
    const what = reason === '' ? 'A rejection needs a reason' : `There is no reason "${reason}"`;
    throw new UsageError(`${what}: choose one of ${codes.join(', ')}.`);
  }
  if (reason === NEEDS_TEXT && text === null)
    throw new UsageError(`The reason "${reason}" needs a text: say in it what the developer must change.`);
};

export const rejectGames = defineOperation({
  name: 'game.reject',
  title: 'Reject games',
  right: 'decide',
  input: decided.extend({
    /** A code of `reasons`. */
    reason: z.string(),
    /** For the application's developer. */
    text: decisionText,
  }),
  subject: gamesSubject,
  run: async (tx, { reason, text, ...input }, context) => {
    await requireReason(tx, reason, text);
    return decide(tx, input, { audit_status: 'rejected', reason, text }, context);
  },
  log: noteDecisions,
  after: addPictureJobs,
  answer,
  refusal: ({ games }) => explainNothingDone(games),
});
